/** The accounts of a tenant, as lists and one by one. */
import { PAGE_SIZE_DEFAULT, pageAnswer, pageQuery } from '@cardea/contracts';
import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { closed } from '../../../http/answers.ts';
import { AdminUserShape, AnyStatus, COMMON, Id, READS } from './admin-answers.ts';
import { findUser, listUsers } from './admin-users.ts';

type Dependencies = Pick<ServiceDependencies, 'clock' | 'database'>;

export const listUsersRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'list_users',
      summary: 'List users',
      method: 'get',
      path: '/api/v1/admin/users',
      who: READS,
      applicationScope: 'roles',
      query: Type.Object({
        ...pageQuery,
        q: Type.Optional(Type.String({ minLength: 1, maxLength: 254 })),
        email: Type.Optional(Type.String({ maxLength: 254 })),
        role: Type.Optional(Type.String({ maxLength: 64 })),
        status: Type.Optional(AnyStatus),
      }),
      ok: closed({ users: Type.Array(AdminUserShape), ...pageAnswer }),
      refusals: {},
      reads: ['users'],
    },
    async ({ tenantId, query }) => {
      const { offset = 0, limit = PAGE_SIZE_DEFAULT, ...filter } = query;
      const { rows, total } = await listUsers(needs.database, {
        tenantId,
        now: needs.clock.now(),
        offset,
        limit,
        ...filter,
      });
      return { ok: { users: [...rows], total, offset, limit } };
    },
  );

export const getUserRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'get_user',
      summary: 'One user',
      method: 'get',
      path: '/api/v1/admin/users/{id}',
      who: READS,
      applicationScope: 'roles',
      params: Id,
      ok: AdminUserShape,
      refusals: { not_found: 404 },
      reads: ['users'],
    },
    async ({ tenantId, params }) => {
      const user = await findUser(needs.database, {
        tenantId,
        id: params.id,
        now: needs.clock.now(),
      });
      return user === undefined ? { refused: 'not_found' } : { ok: user };
    },
  );
