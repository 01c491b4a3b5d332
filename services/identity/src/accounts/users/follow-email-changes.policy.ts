/** After another address: the new one is confirmed by mail if nobody has proven it, and one that was released is free. */
import { type Command, ignored } from '@cardea/event-store';
import { languageOfLocale } from '@cardea/pages';
import { uuidFrom } from '@cardea/runtime';
import { policy } from '@cardea/service';
import type { MailOutbox } from '../../mail/mail.module.ts';
import type { Emails } from '../emails.ts';
import type { UserDirectory } from '../user-directory.ts';
import { exists, type UserEvent, whileUserStays } from './user.ts';

type Dependencies = {
  readonly systemCommand: (tenantId: string, ...idParts: readonly string[]) => Command;
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'emailOf' | 'open'>;
  readonly mailOutbox: Pick<MailOutbox, 'request'>;
  readonly emails: Pick<Emails, 'release' | 'releaseForSignUp'>;
};

export const followEmailChanges = (needs: Dependencies) =>
  policy<UserEvent>({
    name: 'follow_email_changes',
    on: {
      ...whileUserStays('the address stays'),
      UserDeleted: ignored('whoever forgets the user releases the addresses'),
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
