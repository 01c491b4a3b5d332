/** Creates an invitation and mails its link. It replaces an earlier invitation to the same address. */
import type { Command, Streams } from '@cardea/event-store';
import type { Language } from '@cardea/mail';
import { uuidFrom } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import type { MailOutbox } from '../../mail/mail.module.ts';
import type { Administrator } from '../../ranks/ranks.ts';
import { invitationField } from '../../streams/encrypted-fields.ts';
import { type Invitation, type InvitationFacts, type Inviter, invitations } from './invitation.ts';
import { invite } from './invite/invite.ts';
import { replace } from './revoke/revoke.ts';

export type InvitedPerson = Pick<
  InvitationFacts,
  'id' | 'userId' | 'emailHash' | 'roles' | 'invitedBy' | 'requestHash'
> & {
  readonly email: string;
  readonly language: Language | undefined;
  /** The inviter. An invitation with roles above the inviter's is not replaced. */
  readonly by: Administrator;
};

/**
 * Invites the person. `erased`: the person was deleted in between. `forbidden`: the address has an invitation with
 * roles above the inviter's.
 */
export type InvitePerson = (
  person: InvitedPerson,
  command: Command,
) => Promise<
  | { readonly invitation: Invitation; readonly position: bigint | undefined }
  | { readonly erased: true }
  | { readonly forbidden: true }
>;

type Dependencies = Pick<ServiceDependencies, 'sealer'> & {
  readonly streams: Streams;
  readonly mailOutbox: Pick<MailOutbox, 'lastInvitation' | 'request'>;
};

export const inviting =
  ({ streams, sealer, mailOutbox }: Dependencies): InvitePerson =>
  async ({ email: address, language, by, ...person }, command) => {
    const { tenantId } = command.metadata;
    const { id, userId, emailHash, invitedBy } = person;
    const before = await mailOutbox.lastInvitation({ tenantId, mailbox: emailHash });
    if (before !== undefined && before !== id) {
      const own = { ...command, id: uuidFrom(command.id, 'replace') };
      const replaced = await streams.decideOn(invitations, before, own, (invitation) =>
        replace({ by, now: command.now }, invitation),
      );
      if (!replaced.accepted) return { forbidden: true };
    }
    const email = await sealer.seal(tenantId, invitationField(userId, id), address);
    if (email === 'erased') return { erased: true };
    const decided = await streams.decideOn(invitations, id, command, {
      isNew: true,
      decide: (invitation) => invite({ ...person, email, now: command.now }, invitation),
    });
    const mail = { purpose: 'invitation', email: address, emailHash, userId: null } as const;
    const inviter = invitedBy ?? administratorOf(command);
    const details = inviter === undefined ? undefined : { inviter };
    const asked = { ...mail, language, invitationId: id, details };
    const position = await mailOutbox.request(asked, command);
    return { invitation: decided.state, position: position ?? decided.position };
  };

/** The administrator who created the account that the invitation is for. Undefined if an API key created it. */
function administratorOf({ metadata: { tenantId, actor } }: Command): Inviter | undefined {
  return actor.type === 'admin' ? { tenantId, userId: actor.id } : undefined;
}
