/**
 * Lists the requests that were sent to the caller, decided by them, or approved by them together with others, page by
 * page.
 */
import { cursorQuery, nextCursor, pageOfCursor } from '@cardea/contracts';
import { endpoint } from '@cardea/http';
import type { Queryable } from '@cardea/read-models';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { isImpersonated, requestShape, USERS_ONLY } from '../request-shape.ts';
import { readRows, showRows } from '../rows.ts';

type Dependencies = Pick<ServiceDependencies, 'clock' | 'database' | 'sealer' | 'streams'>;

export const listOwnDecisions = (deps: Dependencies) =>
  endpoint(
    {
      tag: 'Approval requests',
      name: 'list_my_decisions',
      access: { class: 'things', applicationScope: 'account' },
      tenant: 'optional',
      summary: 'Requests that were mine to decide',
      description:
        'Lists the requests that were sent to the caller, at first or by an escalation, that they decided or approved among others, newest first, 50 unless `limit` says otherwise. Follow the list with `next_cursor`.',
      method: 'get',
      path: '/api/v1/me/decisions',
      who: ['user'],
      notTaken: USERS_ONLY,
      query: Type.Object(cursorQuery),
      ok: Type.Object(
        {
          requests: Type.Array(requestShape),
          next_cursor: Type.Union([Type.String(), Type.Null()]),
        },
        { additionalProperties: false },
      ),
      refusals: { invalid_request: 400, user_session_required: 401 },
      consistency: { reads: ['requests'] },
    },
    async ({ principal: user, query }) => {
      if (isImpersonated(user)) return { refused: 'user_session_required' };
      const page = pageOfCursor(query);
      if ('rule' in page) return { refused: 'invalid_request', details: [page] };
      const { tenantId, id: userId } = user;
      const sql = deps.database.tenant(tenantId);
      const now = deps.clock.now();
      const ids = await idsOf(sql, { tenantId, userId, now }, page);
      const rows = await readRows(
        sql,
        'WHERE r.tenant_id = $2 AND r.id = ANY($3) ORDER BY r.created_at DESC, r.id DESC',
        [now, tenantId, ids],
      );
      const next_cursor = nextCursor(rows, page.limit, (row) => ({
        ts: row.created_at.toISOString(),
        id: row.id,
      }));
      return { ok: { requests: await showRows(deps, rows), next_cursor } };
    },
  );

/** A request that ended before its escalation was never sent to the second approver. */
const ESCALATED = `
  AND (escalated_at IS NOT NULL OR responded_at >= escalates_at
    OR (status = 'pending' AND escalates_at <= $6))`;

/** Each part has an index of its own, so none reads more than a page. */
async function idsOf(
  sql: Queryable,
  {
    tenantId,
    userId,
    now,
  }: { readonly tenantId: string; readonly userId: string; readonly now: Date },
  { limit, after }: Exclude<ReturnType<typeof pageOfCursor>, { rule: string }>,
): Promise<readonly string[]> {
  const part = (table: string, id: string, column: string, more = '') => `
    (SELECT ${id} AS id, created_at FROM approval.${table}
     WHERE tenant_id = $1 AND ${column} = $2 ${more}
       AND ($3::timestamptz IS NULL OR (created_at, ${id}) < ($3::timestamptz, $4::text))
     ORDER BY created_at DESC, ${id} DESC LIMIT $5)`;
  const parts = [
    part('requests', 'id', 'user_id'),
    part('requests', 'id', 'responded_by'),
    part('approvals_given', 'request_id', 'user_id'),
    part('requests', 'id', 'escalates_to', ESCALATED),
  ];
  const { rows } = await sql.query<{ id: string }>(
    `SELECT id FROM (${parts.join(' UNION ')}) found
     ORDER BY created_at DESC, id DESC LIMIT $5`,
    [tenantId, userId, after?.ts ?? null, after?.id ?? null, limit, now],
  );
  return rows.map(({ id }) => id);
}
