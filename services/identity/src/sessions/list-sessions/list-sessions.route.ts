/** Lists a user's own sessions, one per signed-in device. */
import { PAGE_SIZE_MAX, pageQuery } from '@cardea/contracts';
import { endpoint } from '@cardea/http';
import type { GeoIp } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { closed } from '../../http/answers.ts';
import { pageOfAliveSessions } from '../alive-sessions.ts';
import { SessionShape, shownSession } from '../session-shape.ts';

type Dependencies = Pick<ServiceDependencies, 'clock' | 'database'> & { readonly geoIp: GeoIp };

export const listSessionsRoute = (needs: Dependencies) =>
  endpoint(
    {
      name: 'list_my_sessions',
      access: { class: 'things', applicationScope: 'account' },
      summary: 'List my sessions',
      description:
        "Lists the caller's live sessions, newest first, one for each device that is signed in. `count` counts all of them.",
      tag: 'Self-service',
      method: 'get',
      path: '/api/v1/me/sessions',
      who: ['user'],
      tenant: 'optional',
      query: Type.Object({
        offset: pageQuery.offset,
        /** Without a limit, all sessions are returned. */
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_SIZE_MAX })),
      }),
      ok: closed({ sessions: Type.Array(SessionShape), count: Type.Integer() }),
      refusals: {},
      consistency: { reads: ['sessions', 'users', 'consents'] },
    },
    async ({ principal: user, query }) => {
      const { offset = 0, limit = null } = query;
      const ofUser = { tenantId: user.tenantId, userId: user.id, now: needs.clock.now() };
      const page = { ...ofUser, offset, limit };
      const { rows, total: count } = await pageOfAliveSessions(needs.database, page);
      const sessions = rows.map((row) => shownSession(needs, row, user.sessionId));
      return { ok: { sessions, count } };
    },
  );
