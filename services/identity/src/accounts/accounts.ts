/**
 * Creates accounts: first the address is reserved, then the user is created. A registration that crashed in
 * between loses the address after a minute, and can never be completed afterwards.
 */
import type { UserCreatedVia } from '@cardea/contracts';
import { type Command, release, reserve, type Streams } from '@cardea/event-store';
import { uuidFrom } from '@cardea/runtime';
import type { UserField } from '../streams/encrypted-fields.ts';
import {
  emailReservations,
  type Owner,
  printOwner,
  readOwner,
  type signupReservations,
} from '../streams/reservation.ts';
import type { UserDirectory } from './user-directory.ts';
import { createUser } from './users/create-user.ts';
import { abandon, type ExistingUser, exists, users } from './users/user.ts';

export type NewAccount = {
  readonly id: string;
  readonly email: string;
  readonly emailHash: string;
  readonly emailVerified: boolean;
  readonly displayName: string | null;
  readonly avatarUrl: string | null;
  readonly roles: readonly string[];
  readonly passwordHash: string | null;
  readonly via: UserCreatedVia;
  /** An administrator vouches for the account, or it is the first of a workspace. */
  readonly vouched: boolean;
  readonly requestHash: string | null;
  /** Nobody can sign in until its owner has taken it over. */
  readonly isInvited?: boolean;
};

export type Created =
  | {
      readonly outcome: 'created';
      readonly user: ExistingUser;
      readonly position: bigint | undefined;
    }
  | { readonly outcome: 'taken' }
  /** The same command created the account before, and it was deleted since. */
  | { readonly outcome: 'deleted' };

type Reservations = typeof signupReservations;

/** Streams that creating an account appends to: the address's reservation and the user. */
export const ACCOUNT_APPENDS = 2;

export type Accounts = {
  /** Whether `owner` now has the name. `command` must be of the tenant that the stream is in. */
  readonly hold: (
    noun: Reservations,
    of: { readonly id: string; readonly owner: Owner },
    command: Command,
  ) => Promise<{ readonly held: true } | { readonly held: false; readonly by: Owner }>;
  readonly create: (account: NewAccount, command: Command) => Promise<Created>;
  /** Makes the address available again. */
  readonly releaseAddress: (
    of: { readonly tenantId: string; readonly userId: string; readonly emailHash: string },
    command: Command,
  ) => Promise<void>;
};

export function accounts(needs: {
  readonly streams: Streams;
  readonly userDirectory: UserDirectory;
}): Accounts {
  const { streams, userDirectory } = needs;

  /** True if the reservation's owner provably was and will never be created. */
  const isOrphan = async ({ tenantId, userId }: Owner, command: Command) => {
    const burial: Command = {
      ...command,
      id: uuidFrom(command.id, 'abandon', userId),
      metadata: { ...command.metadata, tenantId },
    };
    const decided = await streams.decideOn(users, userId, burial, abandon);
    return decided.accepted;
  };

  const hold: Accounts['hold'] = async (noun, { id, owner }, command) => {
    const of = { stream: noun, hash: id };
    const reserved = await reserve(streams, of, printOwner(owner), {
      command,
      isOrphan: (by) => isOrphan(readOwner(by), command),
    });
    return reserved.reserved ? { held: true } : { held: false, by: readOwner(reserved.heldBy) };
  };

  return {
    hold,
    releaseAddress: async ({ tenantId, userId, emailHash }, command) => {
      const address = { stream: emailReservations, hash: emailHash };
      await release(streams, address, printOwner({ tenantId, userId }), command);
    },
    create: async (account, command) => {
      const { tenantId } = command.metadata;
      const owner = { tenantId, userId: account.id };
      const reservation = { id: account.emailHash, owner };
      const { held } = await hold(emailReservations, reservation, command);
      if (!held) return { outcome: 'taken' };
      const fields = await sealedFields(userDirectory, account, tenantId);
      if (fields === 'erased') return { outcome: 'deleted' };
      const decided = await streams.decideOn(users, account.id, command, {
        isNew: true,
        decide: (user) =>
          createUser({ isInvited: false, ...account, ...fields, now: command.now }, user),
      });
      if (decided.state.status === 'deleted') return { outcome: 'deleted' };
      if (!decided.accepted || !exists(decided.state)) return { outcome: 'taken' };
      return { outcome: 'created', user: decided.state, position: decided.position };
    },
  };
}

async function sealedFields(userDirectory: UserDirectory, account: NewAccount, tenantId: string) {
  const seal = async (field: UserField, value: string | null) =>
    value === null ? null : userDirectory.seal({ tenantId, userId: account.id }, field, value);
  const [email, displayName, avatarUrl, passwordHash] = await Promise.all([
    userDirectory.seal({ tenantId, userId: account.id }, 'email', account.email),
    seal('display_name', account.displayName),
    seal('avatar_url', account.avatarUrl),
    seal('password_hash', account.passwordHash),
  ]);
  if (email === 'erased' || displayName === 'erased') return 'erased';
  if (avatarUrl === 'erased' || passwordHash === 'erased') return 'erased';
  return { email, displayName, avatarUrl, passwordHash };
}
