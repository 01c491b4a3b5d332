/**
 * An administrator's export of the users of a tenant: how many there were, and whether their password hashes were
 * included. Each export has a stream of its own.
 */
import type { Stream } from '@cardea/event-store';

export type UsersExported = {
  readonly type: 'UsersExported';
  /** `included` names the fields that the lines had in addition to the fields of lists. */
  readonly data: { readonly rows: number; readonly included?: readonly ['password_hash'] };
};

/** A person's export of their own data. */
export type UserSelfExported = {
  readonly type: 'UserSelfExported';
  readonly data: { readonly id: string };
};

export const userExports: Stream<null, UsersExported | UserSelfExported> = {
  noun: 'userexport',
  initial: null,
  evolve: () => null,
};
