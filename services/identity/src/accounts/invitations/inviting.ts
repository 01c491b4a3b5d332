/** Invites a person: the invitation, and the mail with its link. It replaces an earlier one to the address. */
import type { Command, Streams } from '@cardea/event-store';
import { uuidFrom } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import type { MailOutbox } from '../../mail/mail.module.ts';
import type { Language } from '../../pages/texts.ts';
import { invitationField } from '../../streams/encrypted-fields.ts';
import { type Invitation, type InvitationFacts, invitations } from './invitation.ts';
import { invite } from './invite/invite.ts';
import { replace } from './revoke/revoke.ts';

export type InvitedPerson = Pick<
  InvitationFacts,
  'id' | 'userId' | 'emailHash' | 'roles' | 'invitedBy' | 'requestHash'
> & { readonly email: string; readonly language: Language | undefined };

/** `erased`: the person was deleted meanwhile. */
export type InvitePerson = (
  person: InvitedPerson,
  command: Command,
) => Promise<
  | { readonly invitation: Invitation; readonly position: bigint | undefined }
  | { readonly erased: true }
>;

type Dependencies = Pick<ServiceDependencies, 'sealer'> & {
  readonly streams: Streams;
  readonly mailOutbox: Pick<MailOutbox, 'lastInvitation' | 'request'>;
};

export const inviting =
  ({ streams, sealer, mailOutbox }: Dependencies): InvitePerson =>
  async ({ email: address, language, ...person }, command) => {
    const { tenantId } = command.metadata;
    const { id, userId, emailHash } = person;
    const before = await mailOutbox.lastInvitation({ tenantId, mailbox: emailHash });
    if (before !== undefined && before !== id) {
      const own = { ...command, id: uuidFrom(command.id, 'replace') };
      await streams.decideOn(invitations, before, own, (invitation) =>
        replace(command.now, invitation),
      );
    }
    const email = await sealer.seal(tenantId, invitationField(userId, id), address);
    if (email === 'erased') return { erased: true };
    const decided = await streams.decideOn(invitations, id, command, {
      isNew: true,
      decide: (invitation) => invite({ ...person, email, now: command.now }, invitation),
    });
    const mail = { purpose: 'invitation', email: address, emailHash, userId: null } as const;
    const position = await mailOutbox.request({ ...mail, language, invitationId: id }, command);
    return { invitation: decided.state, position: position ?? decided.position };
  };
