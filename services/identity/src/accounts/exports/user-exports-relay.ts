/** That somebody took the users of a tenant along. */
import type { identityEvents } from '@cardea/contracts';
import { relay } from '@cardea/event-bus';
import type { UsersExported } from './user-export.ts';

export const userExportsRelay = relay<UsersExported, typeof identityEvents>({
  UsersExported: ({ data: { rows, included = [] } }) => ({
    type: 'users.exported',
    data: included.length === 0 ? { rows } : { rows, included: [...included] },
  }),
});
