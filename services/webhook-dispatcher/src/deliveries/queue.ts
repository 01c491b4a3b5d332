/**
 * The queue as one process sees it. Due deliveries are claimed under a lease, so that only one process sends each.
 * Deliveries of a dead process are due again when the lease has expired.
 */
import type { WebhookEvent } from '@cardea/contracts';
import type { Database, RowOf } from '@cardea/read-models';
import { LEASE, type LEASED, LOCK, NEXT, READY } from './claim.ts';
import type { Origin } from './delivery.ts';
import { Rounds } from './rounds.ts';

export type Claimed = {
  readonly deliveryId: string;
  readonly tenantId: string;
  readonly webhookId: string;
  readonly event: WebhookEvent;
  readonly origin: Origin;
  readonly messageId: string;
  readonly subject: string;
  /** The encrypted body. */
  readonly box: string;
  readonly traceparent: string | null;
  readonly attemptsMade: number;
  /** The position at which it was scheduled. */
  readonly position: bigint;
};

type Claim = {
  readonly claimed: readonly Claimed[];
  /** The time when the next delivery is due. */
  readonly nextAt: Date | undefined;
  /** Whether due deliveries were left, because a share, a width or the claim itself was full. */
  readonly isMoreDue: boolean;
};

type Asking = {
  readonly now: Date;
  readonly leaseUntil: Date;
  readonly owner: string;
  /** Webhooks for which nothing is claimed now. */
  readonly skip: readonly string[];
  readonly most: number;
  /**
   * How many deliveries may be claimed per tenant, for tenants with deliveries under way. All others get `roomElse`.
   */
  readonly rooms: ReadonlyMap<string, number>;
  readonly roomElse: number;
};

/** Concurrent attempts of one webhook over all processes. A webhook that never responds gets only one. */
const WIDTH = 8;

export interface Queue {
  claim(asking: Asking): Promise<Claim>;
  renew(deliveryIds: readonly string[], owner: string, until: Date): Promise<void>;
  /** Returns false if another statement, e.g. a renewal, locked some of the rows, so that they may still be leased. */
  release(deliveryIds: readonly string[], owner: string): Promise<boolean>;
  /**
   * Releases leases of the owner that it does not know of, because the answer of a claim or a release was lost. Returns
   * false like `release`.
   */
  releaseAllBut(deliveryIds: readonly string[], owner: string): Promise<boolean>;
}

/** Never waits for a locked row, because its owner is about to move or remove it. */
const HELD = `delivery_id IN (SELECT delivery_id FROM webhooks.queue
  WHERE delivery_id = ANY($1::uuid[]) AND lease_owner = $2 FOR UPDATE SKIP LOCKED)`;

const OTHERS = `SELECT delivery_id FROM webhooks.queue
  WHERE lease_until IS NOT NULL AND lease_owner = $2 AND delivery_id <> ALL($1::uuid[])`;
const RELEASE_OTHERS = `UPDATE webhooks.queue SET lease_owner = NULL, lease_until = NULL
  WHERE delivery_id IN (${OTHERS} FOR UPDATE SKIP LOCKED)`;
const ANY_OTHER = `${OTHERS} LIMIT 1`;

type LeasedDelivery = RowOf<typeof LEASED>;
/** The row has no delivery if nothing was claimed. */
type Leased = { readonly last_tenant: string | null } & (
  | LeasedDelivery
  | { readonly delivery_id: null }
);
type Next = { readonly next_at: Date | null; readonly is_more_due: boolean };

export const postgresQueue = (database: Database, rounds = new Rounds()): Queue => ({
  claim: async ({ now, leaseUntil, owner, skip, most, rooms, roomElse }) => {
    const places = rounds.places;
    const [, , leased, next] = await database.asSystemAtOnce<
      [Record<string, unknown>, Record<string, unknown>, Leased, Next]
    >([
      LOCK,
      { ...READY, values: [now] },
      {
        ...LEASE,
        values: [
          ...[WIDTH, skip, most, owner, leaseUntil],
          ...[rounds.tenant, roomElse, [...rooms.keys()], [...rooms.values()]],
          ...[[...places.keys()], [...places.values()]],
        ],
      },
      { ...NEXT, values: [now] },
    ]);
    const [{ next_at, is_more_due } = { next_at: null, is_more_due: false }] = next.rows;
    const claimed = leased.rows.filter(isLeased).map(claimedOf);
    rounds.moved(claimed, leased.rows[0]?.last_tenant ?? undefined);
    return { claimed, nextAt: next_at ?? undefined, isMoreDue: is_more_due };
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
    // Runs after the lock of claims, because a claim whose answer was lost may be about to commit.
    database.asSystem(async (sql) => {
      await sql.query(LOCK);
      await sql.query(RELEASE_OTHERS, [deliveryIds, owner]);
      return (await sql.query(ANY_OTHER, [deliveryIds, owner])).rowCount === 0;
    }),
});

const isLeased = (row: Leased): row is Leased & LeasedDelivery => row.delivery_id !== null;

const claimedOf = (row: LeasedDelivery): Claimed => ({
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
