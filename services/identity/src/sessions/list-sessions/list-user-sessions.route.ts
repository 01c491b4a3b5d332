/** Lists the sessions of one user in pages, for administrators. */
import { PAGE_SIZE_DEFAULT, pageAnswer, pageQuery } from '@cardea/contracts';
import { type Endpoint, endpoint } from '@cardea/http';
import type { GeoIp } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { exists, type UserDirectory } from '../../accounts/accounts.module.ts';
import { closed } from '../../http/answers.ts';
import { pageOfAliveSessions } from '../alive-sessions.ts';
import { SessionShape, shownSession } from '../session-shape.ts';

type Dependencies = Pick<ServiceDependencies, 'clock' | 'database'> & {
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
  readonly geoIp: GeoIp;
};

export const listUserSessionsRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      tag: 'Administration',
      access: { class: 'things', applicationScope: 'roles' },
      name: 'list_user_sessions',
      machine: 'users:read',
      summary: 'List the sessions of a user',
      description: 'Lists the live sessions of a user, newest first.',
      method: 'get',
      path: '/api/v1/admin/users/{id}/sessions',
      who: ['admin', 'api_key:users:read'],
      params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 128 }) }),
      query: Type.Object(pageQuery),
      ok: closed({ sessions: Type.Array(SessionShape), ...pageAnswer }),
      refusals: { not_found: 404 },
      consistency: { reads: ['sessions', 'users', 'consents'] },
    },
    async ({ tenantId, params, query, principal }) => {
      const user = await needs.userDirectory.byId(tenantId, params.id);
      if (!exists(user)) return { refused: 'not_found' };
      const { offset = 0, limit = PAGE_SIZE_DEFAULT } = query;
      const ofUser = { tenantId, userId: params.id, now: needs.clock.now() };
      const { rows, total } = await pageOfAliveSessions(needs.database, {
        ...ofUser,
        offset,
        limit,
      });
      const own = principal.kind === 'user' ? principal.sessionId : null;
      return {
        ok: { sessions: rows.map((row) => shownSession(needs, row, own)), total, offset, limit },
      };
    },
  );
