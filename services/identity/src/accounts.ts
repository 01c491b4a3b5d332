/**
 * Makes accounts: first the address is reserved, then the user is made. A registration that died in
 * between loses the address after a minute, and can then never be finished.
 */
import type { UserCreatedVia } from '@cardea/contracts';
import type { Command, Streams } from '@cardea/event-store';
import { uuidFrom } from '@cardea/runtime';
import type { People } from './people.ts';
import {
  doubtedOwner,
  emailReservations,
  reserve,
  type signupReservations,
} from './reservations/reservation.ts';
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
  readonly requestHash: string | null;
};

export type Created =
  | {
      readonly outcome: 'created';
      readonly user: ExistingUser;
      readonly position: bigint | undefined;
    }
  | { readonly outcome: 'taken' };

type Reservations = typeof signupReservations;

export type Accounts = {
  /** True when `ownerId` holds the name now. `command` must be of the tenant that the stream is in. */
  readonly hold: (
    noun: Reservations,
    of: { readonly id: string; readonly ownerId: string; readonly ownersTenant: string },
    command: Command,
  ) => Promise<boolean>;
  readonly create: (account: NewAccount, command: Command) => Promise<Created>;
};

export function accounts(needs: { readonly streams: Streams; readonly people: People }): Accounts {
  const { streams, people } = needs;

  /** True when the doubted owner is proven never to come. */
  const isOrphan = async (ownerId: string, tenantId: string, command: Command) => {
    const burial: Command = {
      ...command,
      id: uuidFrom(command.id, 'abandon', ownerId),
      metadata: { ...command.metadata, tenantId },
    };
    const decided = await streams.decideOn(users, ownerId, burial, abandon);
    return decided.accepted;
  };

  const hold: Accounts['hold'] = async (noun, { id, ownerId, ownersTenant }, command) => {
    const { now } = command;
    const first = await streams.decideOn(noun, id, command, (held) =>
      reserve({ ownerId, now }, held),
    );
    if (first.accepted) return true;
    const doubted = doubtedOwner(first.state, now);
    if (doubted === undefined || !(await isOrphan(doubted, ownersTenant, command))) return false;
    const again = { ...command, id: uuidFrom(command.id, 'take over', doubted) };
    const second = await streams.decideOn(noun, id, again, (held) =>
      reserve({ ownerId, now, orphan: doubted }, held),
    );
    return second.accepted;
  };

  const sealed = async (account: NewAccount, tenantId: string) => {
    const of = { tenantId, userId: account.id };
    const orNull = (
      field: 'display_name' | 'avatar_url' | 'password_hash',
      value: string | null,
    ) => (value === null ? null : people.seal(of, field, value));
    const [email, displayName, avatarUrl, passwordHash] = await Promise.all([
      people.seal(of, 'email', account.email),
      orNull('display_name', account.displayName),
      orNull('avatar_url', account.avatarUrl),
      orNull('password_hash', account.passwordHash),
    ]);
    return { email, displayName, avatarUrl, passwordHash };
  };

  return {
    hold,
    create: async (account, command) => {
      const { tenantId } = command.metadata;
      const owner = { id: account.emailHash, ownerId: account.id, ownersTenant: tenantId };
      if (!(await hold(emailReservations, owner, command))) return { outcome: 'taken' };
      const fields = await sealed(account, tenantId);
      const decided = await streams.decideOn(users, account.id, command, (user) =>
        createUser({ ...account, ...fields, now: command.now }, user),
      );
      if (!decided.accepted || !exists(decided.state)) return { outcome: 'taken' };
      return { outcome: 'created', user: decided.state, position: decided.position };
    },
  };
}
