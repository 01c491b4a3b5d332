/**
 * What becomes of an invitation that is accepted: a new account under the id that was drawn for it, or the
 * account that was created for its owner. The acceptance is recorded first, so whatever is withdrawn before
 * it has no effect; a request that dies in between is completed by the same link.
 */
import type { Command, Streams } from '@cardea/event-store';
import type { ServiceDependencies } from '@cardea/service';
import { invitationField } from '../../streams/encrypted-fields.ts';
import type { Accounts, NewAccount } from '../accounts.ts';
import type { Administrators } from '../administrators/administrators.ts';
import type { UserDirectory } from '../user-directory.ts';
import { takeOver } from '../users/accept-invitation/accept-invitation.ts';
import { isActiveAdmin } from '../users/ranks.ts';
import { type ExistingUser, exists, users } from '../users/user.ts';
import { acceptInvitation } from './accept/accept.ts';
import { type Invitation, type InvitationFacts, invitations } from './invitation.ts';

export type Joining = {
  readonly invitationId: string;
  /** Null: they sign in by other methods. */
  readonly passwordHash: string | null;
  readonly displayName: string | null;
};

export type Joined =
  | { readonly user: ExistingUser; readonly position: bigint | undefined }
  | { readonly refused: 'invalid' | 'expired' | 'email_already_exists' };

export type Join = {
  readonly find: (of: { readonly tenantId: string; readonly id: string }) => Promise<Invitation>;
  readonly join: (of: Joining, command: Command) => Promise<Joined>;
};

type Dependencies = Pick<ServiceDependencies, 'sealer'> & {
  readonly streams: Streams;
  readonly userDirectory: Pick<UserDirectory, 'byHash' | 'byId' | 'seal'>;
  readonly accounts: Pick<Accounts, 'create'>;
  readonly administrators: Pick<Administrators, 'settle'>;
};

const INVALID = { refused: 'invalid' } as const;
const TAKEN = { refused: 'email_already_exists' } as const;

export function joining(needs: Dependencies): Join {
  const { streams, userDirectory, administrators } = needs;
  return {
    find: async (of) => (await streams.load(invitations, of)).state,
    join: async (of, command) => {
      const { tenantId } = command.metadata;
      const { state } = await streams.load(invitations, { tenantId, id: of.invitationId });
      if (state.status === 'none') return INVALID;
      const by = state.invitedBy;
      if (by !== null && exists(await userDirectory.byHash(tenantId, state.emailHash))) {
        return state.status === 'pending' ? TAKEN : INVALID;
      }
      const inviter = by === null ? null : await userDirectory.byId(by.tenantId, by.userId);
      const decided = await streams.decideOn(invitations, state.id, command, (invitation) =>
        acceptInvitation({ inviter, now: command.now }, invitation),
      );
      if (!decided.accepted) return { refused: decided.reason };
      const joined =
        by === null
          ? await takenOver(needs, state, of, command)
          : await created(needs, state, of, command);
      if ('refused' in joined || !isActiveAdmin(joined.user)) return joined;
      await administrators.settle({ tenantId, userId: joined.user.id }, command);
      return joined;
    },
  };
}

async function created(
  { accounts, sealer, userDirectory }: Dependencies,
  { id, userId, email: sealed, emailHash, roles }: InvitationFacts,
  { passwordHash, displayName }: Joining,
  command: Command,
): Promise<Joined> {
  const email = await sealer.open(sealed, invitationField(userId, id));
  if (email === null) return INVALID;
  const account: NewAccount = {
    ...{ id: userId, email, emailHash, emailVerified: true, displayName, avatarUrl: null },
    ...{ roles, passwordHash, vouched: true, requestHash: null },
    via: 'invitation',
  };
  const made = await accounts.create(account, command);
  if (made.outcome === 'created') return made;
  const own = await userDirectory.byId(command.metadata.tenantId, userId);
  return own.status === 'none' ? TAKEN : INVALID;
}

async function takenOver(
  { streams, userDirectory }: Dependencies,
  { userId }: InvitationFacts,
  { passwordHash, displayName }: Joining,
  command: Command,
): Promise<Joined> {
  const of = { tenantId: command.metadata.tenantId, userId };
  const seal = async (field: 'password_hash' | 'display_name', value: string | null) =>
    value === null ? null : userDirectory.seal(of, field, value);
  const hash = await seal('password_hash', passwordHash);
  const name = await seal('display_name', displayName);
  if (hash === 'erased' || name === 'erased') return INVALID;
  const taking = { passwordHash: hash, displayName: name, now: command.now };
  const decided = await streams.decideOn(users, userId, command, (user) => takeOver(taking, user));
  if (!decided.accepted || !exists(decided.state)) return INVALID;
  return { user: decided.state, position: decided.position };
}
