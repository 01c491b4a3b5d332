/**
 * Claims notices that are due. A claim moves the due time to the end of its lease, so only one process sends the
 * notice. If that process dies, another one claims it after the lease. Rows that another claim has locked are skipped.
 */
import { computed, type Database, orNull, type RowOf, tenantsIn } from '@cardea/read-models';
import { logoutNoticeRows } from './logout-notices.projection.ts';

export type ClaimNotices = {
  readonly now: Date;
  readonly leaseUntil: Date;
  readonly most: number;
  /**
   * How many notices may be claimed per tenant, for tenants with attempts under way in this process. All other tenants
   * get `roomElse`.
   */
  readonly rooms: ReadonlyMap<string, number>;
  readonly roomElse: number;
};

const CLAIMED = logoutNoticeRows
  .select('id')
  .of('claimed')
  .joined()
  .and(logoutNoticeRows.select('tenant_id').of('claimed'))
  .and(
    computed(
      'next_at',
      `(
    SELECT min(due_at) FROM identity.logout_notices q WHERE q.id NOT IN (SELECT id FROM picked)
  )`,
      orNull('timestamptz'),
    ),
  );

/**
 * Claims the first notice of every tenant before the second of any. The result always has at least one row, which
 * carries the time of the next due notice.
 */
const CLAIM = {
  name: 'identity_claim_logout_notices',
  text: `
  WITH RECURSIVE ${tenantsIn('identity.logout_notices')}, found AS MATERIALIZED (
    SELECT due.id, due.due_at, row_number() OVER (PARTITION BY tenants.id ORDER BY due.due_at) AS turn
    FROM tenants LEFT JOIN unnest($4::text[], $5::int[]) AS r (tenant_id, room)
      ON r.tenant_id = tenants.id
    CROSS JOIN LATERAL (
      SELECT q.id, q.due_at FROM identity.logout_notices q
      WHERE q.tenant_id = tenants.id AND q.due_at <= $1
      ORDER BY q.due_at LIMIT coalesce(r.room, $6)
      FOR UPDATE SKIP LOCKED
    ) AS due
  ), picked AS MATERIALIZED (
    SELECT id FROM found ORDER BY turn, due_at LIMIT $3
  ), claimed AS (
    UPDATE identity.logout_notices q SET due_at = $2 FROM picked WHERE q.id = picked.id
    RETURNING q.id, q.tenant_id
  )
  SELECT ${CLAIMED.columns} FROM (VALUES (1)) AS always LEFT JOIN claimed ON true`,
};

export async function claimNotices(
  { system }: Pick<Database, 'system'>,
  { now, leaseUntil, most, rooms, roomElse }: ClaimNotices,
) {
  const room = [[...rooms.keys()], [...rooms.values()], roomElse];
  const { rows } = await system.query<RowOf<typeof CLAIMED>>(CLAIM, [
    now,
    leaseUntil,
    most,
    ...room,
  ]);
  const claimed = rows.flatMap(({ id, tenant_id: tenantId }) =>
    id === null ? [] : [{ id, tenantId }],
  );
  return { claimed, nextAt: rows[0]?.next_at ?? undefined };
}
