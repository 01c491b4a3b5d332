/** Lists the grants that agents got in the caller's name, in pages. */
import { cursorQuery, named, nextCursor, pageOfCursor } from '@cardea/contracts';
import { endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { findGrantsOfUser, grantFields, grantsAreLevel, shownGrant } from '../grant-list.ts';

type Dependencies = Pick<ServiceDependencies, 'clock' | 'database' | 'positions' | 'store'>;

export type ListOwnGrants = ReturnType<typeof listOwnGrantsRoute>;

export const listOwnGrantsRoute = (deps: Dependencies) =>
  endpoint(
    {
      name: 'list_my_grants',
      access: { class: 'things', applicationScope: 'account' },
      summary: 'What agents were given in my name',
      description:
        "Lists the grants of agent sessions on the caller's behalf, newest first and without values, 50 unless `limit` says otherwise. Follow the list with `next_cursor`.",
      tag: 'Self-service',
      tenant: 'optional',
      method: 'get',
      path: '/api/v1/me/grants',
      who: ['user'],
      query: Type.Object(cursorQuery),
      ok: Type.Object({
        grants: Type.Array(named('Grant', Type.Object(grantFields))),
        next_cursor: Type.Union([Type.String(), Type.Null()]),
      }),
      refusals: { invalid_request: 400 },
    },
    async ({ principal: { id: userId, tenantId }, query }) => {
      const page = pageOfCursor(query);
      if ('rule' in page) return { refused: 'invalid_request', details: [page] };
      await grantsAreLevel(deps);
      const rows = await findGrantsOfUser(
        deps.database.tenant(tenantId),
        { tenantId, userId, now: deps.clock.now() },
        page,
      );
      const next_cursor = nextCursor(rows, page.limit, (row) => ({
        ts: row.granted_at.toISOString(),
        id: row.grant_id,
      }));
      return { ok: { grants: rows.map(shownGrant), next_cursor } };
    },
  );
