/**
 * Creates or takes over the account of an accepted invitation: a new account under the id generated for it, or the
 * account that was created for its owner. The acceptance is recorded first, so a later revocation has no effect. If the
 * request dies in between, the same link completes it.
 */
import type { Sealed } from '@cardea/crypto';
import { type Command, refuse, type Streams } from '@cardea/event-store';
import type { ServiceDependencies } from '@cardea/service';
import type { Basis } from '../../streams/basis.ts';
import { invitationField } from '../../streams/encrypted-fields.ts';
import { tokensBeforeAt } from '../../streams/tokens-before.ts';
import type { Accounts, NewAccount } from '../accounts.ts';
import type { Administrators } from '../administrators/administrators.ts';
import type { UserDirectory } from '../user-directory.ts';
import { takeOver } from '../users/accept-invitation/accept-invitation.ts';
import { endTokens } from '../users/administer/decide-on-user.ts';
import { isActiveAdmin } from '../users/ranks.ts';
import { type ExistingUser, exists, standsFor, type User, users } from '../users/user.ts';
import { yieldAddress, yieldsAddress } from '../users/yield-address.ts';
import { acceptInvitation } from './accept/accept.ts';
import { type Invitation, type InvitationFacts, invitations } from './invitation.ts';

export type Joining = {
  readonly invitationId: string;
  /** The state of the existing account that the link depends on. */
  readonly basis: Basis;
  /** Null if they sign in by other methods. */
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

type Dependencies = Pick<ServiceDependencies, 'clock' | 'sealer'> & {
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
      const holder = await userDirectory.byHash(tenantId, state.emailHash);
      if (by !== null && exists(holder) && !yieldsAddress(holder)) {
        return state.status === 'pending' ? TAKEN : INVALID;
      }
      const userId = by !== null && exists(holder) ? holder.id : state.userId;
      const inviter = by === null ? null : await userDirectory.byId(by.tenantId, by.userId);
      const decided = await streams.decideOn(invitations, state.id, command, (invitation) =>
        acceptInvitation({ inviter, userId, now: command.now }, invitation),
      );
      if (!decided.accepted) return { refused: decided.reason };
      const joined = await joinedBy(needs, { invitation: state, holder }, of, command);
      if ('refused' in joined || !isActiveAdmin(joined.user)) return joined;
      await administrators.settle({ tenantId, userId: joined.user.id }, command);
      return joined;
    },
  };
}

/**
 * Chooses the account of the invited person: the one created for them, the one that yields its address, or a new one.
 */
function joinedBy(
  needs: Dependencies,
  at: { readonly invitation: InvitationFacts; readonly holder: User },
  of: Joining,
  command: Command,
): Promise<Joined> {
  const { invitation, holder } = at;
  if (invitation.invitedBy === null) return takenOver(needs, invitation, of, command);
  return exists(holder)
    ? yielded(needs, { invitation, userId: holder.id }, of, command)
    : created(needs, invitation, of, command);
}

async function yielded(
  needs: Dependencies,
  at: { readonly invitation: InvitationFacts; readonly userId: string },
  { passwordHash, displayName }: Joining,
  command: Command,
): Promise<Joined> {
  const { invitation, userId } = at;
  const of = { tenantId: command.metadata.tenantId, userId };
  const sealed = await sealedEntries(needs, of, { passwordHash, displayName });
  if (sealed === 'erased') return INVALID;
  const proof = { isRegistrant: false, count: 0, tokensBefore: tokensBeforeAt(command.now) };
  const taking = { ...sealed, roles: invitation.roles, proof, now: command.now };
  const decided = await needs.streams.decideOn(users, userId, command, (user) =>
    yieldAddress(taking, user),
  );
  if (!decided.accepted || !exists(decided.state)) return TAKEN;
  const ended = await endTokens(needs, of, command, decided.events);
  return { user: decided.state, position: ended ?? decided.position };
}

/** Encrypts the entries under the person's own key. */
async function sealedEntries(
  { userDirectory }: Dependencies,
  of: { readonly tenantId: string; readonly userId: string },
  entered: Pick<Joining, 'passwordHash' | 'displayName'>,
): Promise<
  { readonly passwordHash: Sealed | null; readonly displayName: Sealed | null } | 'erased'
> {
  const seal = async (field: 'password_hash' | 'display_name', value: string | null) =>
    value === null ? null : userDirectory.seal(of, field, value);
  const passwordHash = await seal('password_hash', entered.passwordHash);
  const displayName = await seal('display_name', entered.displayName);
  if (passwordHash === 'erased' || displayName === 'erased') return 'erased';
  return { passwordHash, displayName };
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
    id: userId,
    email,
    emailHash,
    emailVerified: true,
    displayName,
    avatarUrl: null,
    roles,
    passwordHash,
    vouched: true,
    requestHash: null,
    via: 'invitation',
  };
  const made = await accounts.create(account, command);
  if (made.outcome === 'created') return made;
  const own = await userDirectory.byId(command.metadata.tenantId, userId);
  return own.status === 'none' ? TAKEN : INVALID;
}

async function takenOver(
  needs: Dependencies,
  { userId }: InvitationFacts,
  { passwordHash, displayName, basis }: Joining,
  command: Command,
): Promise<Joined> {
  const of = { tenantId: command.metadata.tenantId, userId };
  const sealed = await sealedEntries(needs, of, { passwordHash, displayName });
  if (sealed === 'erased') return INVALID;
  // The account has no sessions, because nobody could sign in to it.
  const proof = { isRegistrant: false, count: 0, tokensBefore: tokensBeforeAt(command.now) };
  const taking = { ...sealed, proof, now: command.now };
  const decided = await needs.streams.decideOn(users, userId, command, (user) =>
    standsFor(user, basis) ? takeOver(taking, user) : refuse('not_invited'),
  );
  if (!decided.accepted || !exists(decided.state)) return INVALID;
  return { user: decided.state, position: decided.position };
}
