/** Publishes that the users of a tenant were exported. */
import type { identityEvents } from '@cardea/contracts';
import { relay } from '@cardea/event-bus';
import type { UserSelfExported, UsersExported } from './user-export.ts';

export const userExportsRelay = relay<UsersExported | UserSelfExported, typeof identityEvents>({
  UserSelfExported: ({ data }) => ({ type: 'user.self_exported', data }),
  UsersExported: ({ data: { rows, included = [] } }) => ({
    type: 'users.exported',
    data: included.length === 0 ? { rows } : { rows, included: [...included] },
  }),
});
