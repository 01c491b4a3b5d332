/**
 * Acts on changes of address: mails the links when a change is requested, performs the change once everything is
 * proven, mails a confirmation for an address that nobody has proven, and frees released addresses.
 */
import { type Command, ignored } from '@cardea/event-store';
import { languageOfLocale } from '@cardea/pages';
import { uuidFrom } from '@cardea/runtime';
import { policy } from '@cardea/service';
import type { MailOutbox } from '../../mail/mail.module.ts';
import type { EmailChanges } from '../email-changes.ts';
import type { Emails } from '../emails.ts';
import type { UserDirectory } from '../user-directory.ts';
import { mailEmailChange } from './mail-email-changes.ts';
import { exists, type UserEvent } from './user.ts';

type Dependencies = {
  readonly systemCommand: (tenantId: string, ...idParts: readonly string[]) => Command;
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'emailOf' | 'open'>;
  readonly mailOutbox: Pick<MailOutbox, 'request'>;
  readonly emails: Pick<Emails, 'release' | 'releaseForSignUp'>;
  readonly emailChanges: Pick<EmailChanges, 'complete'>;
};

export const followEmailChanges = (needs: Dependencies) =>
  policy<UserEvent>()({
    name: 'follow_email_changes',
    on: {
      UserDeleted: ignored('whoever forgets the user releases the addresses'),
      EmailChangeRequested: async ({ id: eventId, data, metadata: { tenantId } }) => {
        const command = needs.systemCommand(tenantId, 'mail email change', eventId);
        const of = { tenantId, userId: data.id, changeId: data.change_id };
        await mailEmailChange(needs, of, { mails: 'all', command });
      },
      EmailChangeReminded: async ({ id: eventId, data, metadata: { tenantId } }) => {
        const command = needs.systemCommand(tenantId, 'mail email change', eventId);
        const of = { tenantId, userId: data.id, changeId: data.change_id };
        await mailEmailChange(needs, of, { mails: 'reminder', command });
      },
      EmailChangeProven: async ({ id: eventId, data, metadata: { tenantId } }) => {
        // The actor is the person, as in the request that proved the address.
        const actor = { type: 'user', id: data.id } as const;
        const own = needs.systemCommand(tenantId, 'complete email change', eventId);
        const command = { ...own, metadata: { ...own.metadata, actor } };
        await needs.emailChanges.complete(
          { tenantId, userId: data.id, changeId: data.change_id },
          command,
        );
      },
      EmailChanged: async ({ id: eventId, data, metadata: { tenantId } }) => {
        if (data.email_verified) return;
        const user = await needs.userDirectory.byId(tenantId, data.id);
        if (!exists(user) || user.emailHash !== data.email_hash) return;
        const { email, locale } = await needs.userDirectory.open(user);
        if (email === null) return;
        const { emailHash } = user;
        const mail = { purpose: 'verify', email, emailHash, userId: data.id } as const;
        await needs.mailOutbox.request(
          { ...mail, language: languageOfLocale(locale), asker: 'administrator' },
          needs.systemCommand(tenantId, 'verify changed email', eventId),
        );
      },
      EmailReleased: async ({ id: eventId, data, metadata: { tenantId } }) => {
        const command = needs.systemCommand(tenantId, 'release email', eventId);
        const of = { tenantId, userId: data.id };
        const user = await needs.userDirectory.byId(tenantId, data.id);
        if (exists(user) && user.emailHash === data.email_hash) return;
        await needs.emails.release({ ...of, emailHash: data.email_hash }, command);
        const email = await needs.userDirectory.emailOf({ id: data.id, email: data.email });
        if (email === null) return;
        const own = { ...command, id: uuidFrom(command.id, 'sign-up') };
        await needs.emails.releaseForSignUp({ ...of, email }, own);
      },
    },
  });
