/** An administrator takes the users of a tenant along: how many there were. A stream of its own for each export. */
import type { Stream } from '@cardea/event-store';

export type UsersExported = {
  readonly type: 'UsersExported';
  readonly data: { readonly rows: number };
};

export const userExports: Stream<null, UsersExported> = {
  noun: 'userexport',
  initial: null,
  evolve: () => null,
};
