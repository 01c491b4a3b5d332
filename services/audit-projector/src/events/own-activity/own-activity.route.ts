/** Lists the audit events about the caller: what they did, and what was done with their account. */
import { cursorQuery, nextCursor, pageOfCursor } from '@cardea/contracts';
import { endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { AUDIT } from '../endpoint-defaults.ts';
import { AuditEvent, COLUMNS, type StoredEvent } from '../event-shape.ts';
import type { UntilLevel } from '../level.ts';

type Dependencies = Pick<ServiceDependencies, 'database'> & { readonly untilLevel: UntilLevel };

export type ListOwnActivity = ReturnType<typeof listOwnActivity>;

export const listOwnActivity = (deps: Dependencies) =>
  endpoint(
    {
      tag: AUDIT.tag,
      name: 'list_my_activity',
      access: { class: 'things', applicationScope: 'account' },
      tenant: 'optional',
      summary: 'What the audit log says about me',
      description:
        'Lists the recorded events whose actor or target is the caller, newest first, 50 unless `limit` says otherwise; where somebody else acted, without their address and device. Follow the list with `next_cursor`.',
      method: 'get',
      path: '/api/v1/me/activity',
      who: ['user'],
      query: Type.Object(cursorQuery),
      ok: Type.Object({
        events: Type.Array(AuditEvent),
        next_cursor: Type.Union([Type.String(), Type.Null()]),
      }),
      refusals: { invalid_request: 400 },
    },
    async ({ principal: { tenantId, id }, query }) => {
      const page = pageOfCursor(query);
      if ('rule' in page) return { refused: 'invalid_request', details: [page] };
      const { limit, after } = page;
      if (after === undefined) await deps.untilLevel();
      const { rows } = await deps.database
        .tenant(tenantId)
        .query<StoredEvent>(OWN, [tenantId, id, after?.ts ?? null, after?.id ?? null, limit]);
      const events = rows.map((row) => shownTo(id, row));
      const next_cursor = nextCursor(rows, limit, (row) => ({
        ts: row.timestamp.toISOString(),
        id: row.id,
      }));
      return { ok: { events, next_cursor } };
    },
  );

/** Each part has its own index, so neither reads more than a page. */
const part = (condition: string): string => `
  (SELECT * FROM audit.events
   WHERE tenant_id = $1 AND ${condition}
     AND ($3::timestamptz IS NULL OR (ts, id) < ($3::timestamptz, $4::uuid))
   ORDER BY ts DESC, id DESC LIMIT $5)`;
const OWN = `
  SELECT ${COLUMNS.join(', ')} FROM (
    ${part('actor_id = $2')}
    UNION ALL
    ${part("target_id = $2 AND target_type = 'user' AND actor_id <> $2")}
  ) found ORDER BY ts DESC, id DESC LIMIT $5`;

/** If another person acted, the row shows neither that person's address nor device. */
function shownTo(userId: string, { timestamp, ...row }: StoredEvent) {
  const event = { ...row, timestamp: timestamp.toISOString() };
  if (row.actor_id === userId) return event;
  const hidden = { source_ip: null, source_user_agent: null };
  return { ...event, ...hidden, source_geo_city: null, source_geo_country: null };
}
