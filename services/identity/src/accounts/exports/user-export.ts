/** An administrator takes the users of a tenant along: how many there were, and whether with their password hashes. A stream of its own for each export. */
import type { Stream } from '@cardea/event-store';

export type UsersExported = {
  readonly type: 'UsersExported';
  /** `included`: what the lines had beside what lists show. */
  readonly data: { readonly rows: number; readonly included?: readonly ['password_hash'] };
};

/** A person takes along what is kept about them. */
export type UserSelfExported = {
  readonly type: 'UserSelfExported';
  readonly data: { readonly id: string };
};

export const userExports: Stream<null, UsersExported | UserSelfExported> = {
  noun: 'userexport',
  initial: null,
  evolve: () => null,
};
