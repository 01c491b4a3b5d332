/**
 * Claims deliveries in SQL: one transaction under one lock, so that only one process claims at a time. A claim visits
 * one tenant after another, and within a tenant one webhook after another, using an index of the rows that can be
 * claimed now. Rows that are not due or are leased cost nothing.
 */
import { deliveryRows, queueRows } from './deliveries.projection.ts';
import { CIRCUIT_OPENS_AT } from './health.ts';

/** The most tenants that one claim considers. */
const TENANTS_MAX = 256;
/** The most deliveries that one claim finds due or expired. If there are more, the next claim follows at once. */
const TURNED_MAX = 1_000;

// The lock is needed because the free width of a webhook is first counted and then filled. Planning the claim for its
// values would cost more than the claim itself. If a crash of the database loses a lease, one attempt is sent twice,
// under the same id.
export const LOCK = {
  name: 'webhooks_lock_claims',
  text: `SELECT set_config('plan_cache_mode', 'force_generic_plan', true),
    set_config('synchronous_commit', 'off', true), pg_advisory_xact_lock(hashtext('webhooks.claim'))`,
};

/** Deliveries that have become due, and those that a dead process had leased. */
export const READY = {
  name: 'webhooks_ready',
  text: `
  WITH due AS MATERIALIZED (
    SELECT delivery_id FROM webhooks.queue WHERE NOT ready AND run_at <= $1
    ORDER BY run_at LIMIT ${TURNED_MAX} FOR UPDATE SKIP LOCKED
  ), lapsed AS MATERIALIZED (
    SELECT delivery_id FROM webhooks.queue WHERE lease_until IS NOT NULL AND lease_until <= $1
    ORDER BY lease_until LIMIT ${TURNED_MAX} FOR UPDATE SKIP LOCKED
  )
  UPDATE webhooks.queue q SET ready = true, lease_owner = NULL, lease_until = NULL
  FROM (SELECT delivery_id FROM due UNION SELECT delivery_id FROM lapsed) AS turned
  WHERE q.delivery_id = turned.delivery_id`,
};

const CLAIMABLE = 'q.ready AND q.lease_until IS NULL';

/** A loose index scan that starts after `start` and wraps around. Each step is one index lookup. */
const ring = (of: {
  readonly name: string;
  readonly column: string;
  readonly start: string;
  readonly last: string;
  readonly where: string;
  readonly most: number;
}): string => `
  ${of.name} (id, lap, place) AS (
    SELECT ${of.start}, 0, 0
    UNION ALL
    SELECT next.id, next.lap, ${of.name}.place + 1
    FROM ${of.name} CROSS JOIN LATERAL (
      (SELECT q.${of.column} AS id, ${of.name}.lap FROM webhooks.queue q
       WHERE ${CLAIMABLE} AND ${of.where} AND q.${of.column} > ${of.name}.id
         AND q.${of.column} <= CASE ${of.name}.lap WHEN 0 THEN ${of.last} ELSE ${of.start} END
       ORDER BY q.${of.column} LIMIT 1)
      UNION ALL
      (SELECT q.${of.column}, 1 FROM webhooks.queue q
       WHERE ${CLAIMABLE} AND ${of.where} AND ${of.name}.lap = 0 AND q.${of.column} <= ${of.start}
       ORDER BY q.${of.column} LIMIT 1)
      LIMIT 1
    ) AS next
    WHERE ${of.name}.place < ${of.most}
  )`;

const TENANTS = ring({
  name: 'tenants',
  column: 'tenant_id',
  start: '$6::text COLLATE "C"',
  last: `U&'\\+10FFFF'`,
  where: 'true',
  most: TENANTS_MAX,
});

const WEBHOOKS_MAX = 1_000;
const WEBHOOKS = ring({
  name: 'hooks',
  column: 'webhook_id',
  start: 'visited.last_webhook',
  last: `'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid`,
  where: 'q.tenant_id = visited.tenant_id',
  most: WEBHOOKS_MAX,
});

/** The attempts that may start now for one webhook: its width minus its leases. */
const FREE_WIDTH = `greatest(0,
    (SELECT coalesce(min(CASE WHEN h.unanswered >= ${CIRCUIT_OPENS_AT} THEN 1 END), $1)
     FROM webhooks.health h WHERE h.webhook_id = hooks.id)
    - (SELECT count(*) FROM webhooks.queue l
       WHERE l.webhook_id = hooks.id AND l.lease_until IS NOT NULL))`;

/** Each tenant gets at most its room, and an equal part of what this claim may take. */
const VISITED = `
  visited AS MATERIALIZED (
    SELECT tenants.id AS tenant_id, tenants.place,
      least(coalesce(r.room, $7), greatest(1, ceil($3::numeric / count(*) OVER ())))::int AS room,
      coalesce(c.webhook_id, '00000000-0000-0000-0000-000000000000') AS last_webhook
    FROM tenants
    LEFT JOIN unnest($8::text[], $9::int[]) AS r (tenant_id, room) ON r.tenant_id = tenants.id
    LEFT JOIN unnest($10::text[], $11::uuid[]) AS c (tenant_id, webhook_id) ON c.tenant_id = tenants.id
    WHERE tenants.place > 0 AND coalesce(r.room, $7) > 0
  )`;

const FOUND = `
  SELECT due.delivery_id, due.step, visited.place, row_number() OVER (PARTITION BY visited.place) AS turn
  FROM visited CROSS JOIN LATERAL (
    WITH RECURSIVE ${WEBHOOKS}
    SELECT one.delivery_id, hooks.place AS step FROM hooks CROSS JOIN LATERAL (
      SELECT q.delivery_id FROM webhooks.queue q
      WHERE ${CLAIMABLE} AND q.tenant_id = visited.tenant_id AND q.webhook_id = hooks.id
      ORDER BY q.run_at LIMIT ${FREE_WIDTH}
      FOR UPDATE SKIP LOCKED
    ) AS one
    WHERE hooks.place > 0 AND hooks.id <> ALL($2::uuid[])
    LIMIT visited.room
  ) AS due`;

export const LEASED = queueRows
  .select(
    'delivery_id',
    'tenant_id',
    'webhook_id',
    'origin',
    'subject',
    'attempts_made',
    'position',
  )
  .of('q')
  .and(deliveryRows.select('event', 'message_id', 'body', 'traceparent').of('d'));

/**
 * The first delivery of every tenant comes before the second of any. It is one statement after the lock, so its
 * snapshot includes the leases of the last claim. There is always a row, which names the last tenant considered.
 */
export const LEASE = {
  name: 'webhooks_claim',
  text: `
  WITH RECURSIVE ${TENANTS}, ${VISITED}, picked AS MATERIALIZED (
    SELECT * FROM (${FOUND}) AS found ORDER BY turn, place LIMIT $3
  ), leased AS (
    UPDATE webhooks.queue q SET lease_owner = $4, lease_until = $5
    FROM picked JOIN webhooks.deliveries d ON d.id = picked.delivery_id
    WHERE q.delivery_id = picked.delivery_id
    RETURNING ${LEASED.columns}, picked.place, picked.step
  )
  SELECT (SELECT tenant_id FROM visited ORDER BY place DESC LIMIT 1) AS last_tenant, leased.*
  FROM (VALUES (1)) AS always LEFT JOIN leased ON true
  ORDER BY leased.place, leased.step`,
};

/** A delivery that was not reached in time is due already, so the next claim follows at once. */
export const NEXT = {
  name: 'webhooks_next_due',
  text: `SELECT least((SELECT min(run_at) FROM webhooks.queue WHERE NOT ready),
    (SELECT min(lease_until) FROM webhooks.queue
     WHERE lease_until IS NOT NULL AND lease_until > $1)) AS next_at,
    EXISTS (SELECT FROM webhooks.queue q WHERE ${CLAIMABLE}) AS is_more_due`,
};
