/** The mails about a requested change of address: links to confirm or cancel it. */
import type { Command } from '@cardea/event-store';
import { languageOfLocale } from '@cardea/pages';
import { uuidFrom } from '@cardea/runtime';
import type { MailOutbox } from '../../mail/mail.module.ts';
import type { UserDirectory } from '../user-directory.ts';
import { exists } from './user.ts';

type Dependencies = {
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'emailOf' | 'open'>;
  readonly mailOutbox: Pick<MailOutbox, 'request'>;
};

/** Nothing is looked up about the new address here. The mail's content is determined when it is written. */
export async function mailEmailChange(
  { userDirectory, mailOutbox }: Dependencies,
  of: { readonly tenantId: string; readonly userId: string; readonly changeId: string },
  { mails, command }: { readonly mails: 'all' | 'reminder'; readonly command: Command },
): Promise<void> {
  const user = await userDirectory.byId(of.tenantId, of.userId);
  if (!exists(user) || user.emailChange?.id !== of.changeId) return;
  const { id: userId, emailHash, emailChange: change } = user;
  const [{ email: present, locale }, next] = await Promise.all([
    userDirectory.open(user),
    userDirectory.emailOf({ id: userId, email: change.email }),
  ]);
  if (present === null || next === null) return;
  const emailChange = { id: change.id, userId };
  const common = { userId, language: languageOfLocale(locale), details: { emailChange } };
  if (mails === 'all') {
    const mail = { ...common, email: next, emailHash: change.hash, asker: userId };
    const own = { ...command, id: uuidFrom(command.id, 'new') };
    await mailOutbox.request({ ...mail, purpose: 'email_change' }, own);
  }
  const at = { ...common, email: present, emailHash };
  const own = { ...command, id: uuidFrom(command.id, 'present') };
  if (change.effectiveAt !== null) {
    const details = { emailChange, day: change.effectiveAt };
    // Includes the mail's number, so that the link of the first mail still works after the reminder.
    const asker = `${userId} ${mails}`;
    await mailOutbox.request({ ...at, details, asker, purpose: 'email_change_stop' }, own);
  } else if (change.missing.includes('present')) {
    await mailOutbox.request({ ...at, asker: userId, purpose: 'email_change' }, own);
  }
}
