/**
 * The queue as one process sees it: what is due is claimed under a lease, so that of all processes one
 * sends it, and what a dead process had claimed is due again when the lease has lapsed.
 */
import type { WebhookEvent } from '@cardea/contracts';
import type { Database } from '@cardea/read-models';
import type { Origin } from './delivery.ts';
import { CIRCUIT_OPENS_AT } from './health.ts';

export type Claimed = {
  readonly deliveryId: string;
  readonly tenantId: string;
  readonly webhookId: string;
  readonly event: WebhookEvent;
  readonly origin: Origin;
  readonly messageId: string;
  readonly subject: string;
  /** Sealed. */
  readonly box: string;
  readonly traceparent: string | null;
  readonly attemptsMade: number;
  /** Where it was scheduled. */
  readonly position: bigint;
};

type Claim = {
  readonly claimed: readonly Claimed[];
  /** When something is due next. */
  readonly nextAt: Date | undefined;
  /** True when something due was left, as more was claimed of its webhook than is sent at once. */
  readonly isMoreDue: boolean;
};

type Asking = {
  readonly now: Date;
  readonly leaseUntil: Date;
  readonly owner: string;
  /** Webhooks that are given nothing now. */
  readonly skip: readonly string[];
  readonly most: number;
};

/** Attempts of one webhook at the same time, over all processes; of one that never answers, a single one. */
const WIDTH = 8;

export interface Queue {
  claim(asking: Asking): Promise<Claim>;
  renew(deliveryIds: readonly string[], owner: string, until: Date): Promise<void>;
  /** False when some may still be leased: another statement had locked their rows, e.g. a renewal. */
  release(deliveryIds: readonly string[], owner: string): Promise<boolean>;
  /**
   * Releases what the owner has leased and does not know of, for the answer of a claim or of a release was
   * lost. False when some are leased still, as for `release`.
   */
  releaseAllBut(deliveryIds: readonly string[], owner: string): Promise<boolean>;
}

// One claim at a time, for the width of a webhook is counted and then filled. Planning the claim for its
// values would cost more than the claim itself. A lease that a crash of the database forgets is one attempt
// sent twice, under the same id.
const LOCK = {
  name: 'webhooks_lock_claims',
  text: `SELECT set_config('plan_cache_mode', 'force_generic_plan', true),
    set_config('synchronous_commit', 'off', true), pg_advisory_xact_lock(hashtext('webhooks.claim'))`,
};

// From webhook to webhook through the index: a million rows of one cost the others nothing.
const PICK = `
  waiting AS (
    (SELECT webhook_id FROM webhooks.queue ORDER BY webhook_id LIMIT 1)
    UNION ALL
    SELECT (SELECT q.webhook_id FROM webhooks.queue q WHERE q.webhook_id > waiting.webhook_id
            ORDER BY q.webhook_id LIMIT 1)
    FROM waiting WHERE waiting.webhook_id IS NOT NULL
  ), picked AS MATERIALIZED (
    SELECT due.delivery_id FROM waiting CROSS JOIN LATERAL (
      SELECT q.delivery_id, q.run_at FROM webhooks.queue q
      WHERE q.webhook_id = waiting.webhook_id AND q.run_at <= $1
        AND (q.lease_until IS NULL OR q.lease_until <= $1)
      ORDER BY q.run_at
      LIMIT greatest(0, (SELECT coalesce(min(CASE WHEN h.unanswered >= ${CIRCUIT_OPENS_AT} THEN 1 END), $2)
          FROM webhooks.health h WHERE h.webhook_id = waiting.webhook_id)
        - (SELECT count(*) FROM webhooks.queue l
        WHERE l.webhook_id = waiting.webhook_id AND l.lease_until > $1))
      FOR UPDATE SKIP LOCKED
    ) due
    WHERE waiting.webhook_id IS NOT NULL AND waiting.webhook_id <> ALL($3::uuid[])
    ORDER BY due.run_at LIMIT $4
  )`;

/** Picked and leased in one statement, after the lock: its snapshot shows the leases of the last claim. */
const LEASE = {
  name: 'webhooks_claim',
  text: `
  WITH RECURSIVE ${PICK}
  UPDATE webhooks.queue q SET lease_owner = $5, lease_until = $6
  FROM picked JOIN webhooks.deliveries d ON d.id = picked.delivery_id
  WHERE q.delivery_id = picked.delivery_id
  RETURNING q.delivery_id, q.tenant_id, q.webhook_id, q.origin, q.subject, q.attempts_made,
    q.position, d.event, d.message_id, d.body, d.traceparent`,
};

/** A lease of a process that died lapses like a due time. */
const NEXT = {
  name: 'webhooks_next_due',
  text: `SELECT least((SELECT min(run_at) FROM webhooks.queue WHERE run_at > $1),
    (SELECT min(lease_until) FROM webhooks.queue WHERE lease_until > $1)) AS next_at,
    EXISTS (SELECT FROM webhooks.queue WHERE run_at <= $1
      AND (lease_until IS NULL OR lease_until <= $1)) AS is_more_due`,
};

/** Never waits for a row: whoever holds one is about to move or to remove it. */
const HELD = `delivery_id IN (SELECT delivery_id FROM webhooks.queue
  WHERE delivery_id = ANY($1::uuid[]) AND lease_owner = $2 FOR UPDATE SKIP LOCKED)`;

const OTHERS = `SELECT delivery_id FROM webhooks.queue
  WHERE lease_until IS NOT NULL AND lease_owner = $2 AND delivery_id <> ALL($1::uuid[])`;
const RELEASE_OTHERS = `UPDATE webhooks.queue SET lease_owner = NULL, lease_until = NULL
  WHERE delivery_id IN (${OTHERS} FOR UPDATE SKIP LOCKED)`;
const ANY_OTHER = `${OTHERS} LIMIT 1`;

type Row = {
  readonly delivery_id: string;
  readonly tenant_id: string;
  readonly webhook_id: string;
  readonly origin: Origin;
  readonly subject: string;
  readonly attempts_made: number;
  readonly position: string;
  readonly event: WebhookEvent;
  readonly message_id: string;
  readonly body: string;
  readonly traceparent: string | null;
};

export const postgresQueue = (database: Database): Queue => ({
  claim: async ({ now, leaseUntil, owner, skip, most }) => {
    const [, leased, next] = await database.asSystemAtOnce<
      [Record<string, unknown>, Row, { next_at: Date | null; is_more_due: boolean }]
    >([
      LOCK,
      { ...LEASE, values: [now, WIDTH, skip, most, owner, leaseUntil] },
      { ...NEXT, values: [now] },
    ]);
    const [{ next_at, is_more_due } = { next_at: null, is_more_due: false }] = next.rows;
    return {
      claimed: leased.rows.map(claimedOf),
      nextAt: next_at ?? undefined,
      isMoreDue: is_more_due,
    };
  },
  renew: async (deliveryIds, owner, until) => {
    await database.system.query(`UPDATE webhooks.queue SET lease_until = $3 WHERE ${HELD}`, [
      deliveryIds,
      owner,
      until,
    ]);
  },
  release: async (deliveryIds, owner) => {
    const { rowCount } = await database.system.query(
      `UPDATE webhooks.queue SET lease_owner = NULL, lease_until = NULL WHERE ${HELD}`,
      [deliveryIds, owner],
    );
    return rowCount === deliveryIds.length;
  },
  releaseAllBut: (deliveryIds, owner) =>
    // After the lock of claims: one whose answer was lost may be about to commit.
    database.asSystem(async (sql) => {
      await sql.query(LOCK);
      await sql.query(RELEASE_OTHERS, [deliveryIds, owner]);
      return (await sql.query(ANY_OTHER, [deliveryIds, owner])).rowCount === 0;
    }),
});

const claimedOf = (row: Row): Claimed => ({
  deliveryId: row.delivery_id,
  tenantId: row.tenant_id,
  webhookId: row.webhook_id,
  event: row.event,
  origin: row.origin,
  messageId: row.message_id,
  subject: row.subject,
  box: row.body,
  traceparent: row.traceparent,
  attemptsMade: row.attempts_made,
  position: BigInt(row.position),
});
