/**
 * After a user was deleted: mails them, releases the address, and then erases the key that encrypts their data. In this
 * order a crash in between leaves nothing half released.
 */
import type { Sealer } from '@cardea/crypto';
import type { Command } from '@cardea/event-store';
import { languageOfLocale } from '@cardea/pages';
import { policy } from '@cardea/service';
import type { MailOutbox } from '../../mail/mail.module.ts';
import type { UserDirectory } from '../user-directory.ts';
import type { UserEvent } from './user.ts';

type Dependencies = {
  readonly sealer: Sealer;
  readonly systemCommand: (tenantId: string, ...idParts: readonly string[]) => Command;
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'emailOf' | 'localeOf'>;
  readonly mailOutbox: Pick<MailOutbox, 'notify'>;
  /** Makes the address available for other accounts. */
  readonly releaseAddress: (
    of: { readonly tenantId: string; readonly userId: string; readonly emailHash: string },
    command: Command,
  ) => Promise<void>;
};

export const forgetDeletedUsers = (needs: Dependencies) =>
  policy<UserEvent>()({
    name: 'forget_deleted_users',
    on: {
      UserDeleted: async ({ id: eventId, data, metadata: { tenantId } }) => {
        const { id: userId, email_hash: emailHash } = data;
        const command = needs.systemCommand(tenantId, 'forget', eventId);
        await notifyDeleted(needs, { tenantId, userId, at: data.deleted_at }, eventId);
        await needs.releaseAddress({ tenantId, userId, emailHash }, command);
        await needs.sealer.erase(`user:${userId}`);
      },
    },
  });

type Deleted = { readonly tenantId: string; readonly userId: string; readonly at: string };

/**
 * An address that was never proven may belong to another person, so it gets no mail. A repeat finds the key erased, or
 * sends the same mail.
 */
async function notifyDeleted(
  { userDirectory, mailOutbox, systemCommand }: Dependencies,
  { tenantId, userId, at }: Deleted,
  eventId: string,
): Promise<void> {
  const user = await userDirectory.byId(tenantId, userId);
  if (user.status !== 'deleted' || !user.emailVerified) return;
  const [email, locale] = await Promise.all([
    userDirectory.emailOf(user),
    userDirectory.localeOf(user),
  ]);
  if (email === null) return;
  const details = { change: 'account_deleted', at } as const;
  const language = languageOfLocale(locale);
  await mailOutbox.notify(
    { email, emailHash: user.emailHash, userId, language, details },
    systemCommand(tenantId, 'deleted', eventId),
  );
}
