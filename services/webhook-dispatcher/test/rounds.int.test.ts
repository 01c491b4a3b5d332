import { randomUUID } from 'node:crypto';
import { openDatabase, type PostgresDatabase } from '@cardea/read-models';
import { silentLogger, testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Claimed, postgresQueue } from '../src/deliveries/queue.ts';
import { Rounds } from '../src/deliveries/rounds.ts';

const MOST = 256;
const ROOM = 64;
const WIDTH = 8;
const LEASE_MS = 60_000;
const MINUTE_MS = 60_000;

const migrated = testDatabase();
let database: PostgresDatabase;
beforeAll(() => {
  database = openDatabase({ connectionString: migrated.url, log: silentLogger });
});
beforeEach(async () => {
  await database.system.query('DELETE FROM webhooks.queue');
  await database.system.query('DELETE FROM webhooks.deliveries');
});
afterAll(() => database?.close());

type Backlog = {
  readonly tenantId: string;
  readonly webhooks: number;
  /** The number of rows of each webhook. */
  readonly rows: number;
  readonly dueSinceMs?: number;
  readonly ready?: boolean;
};

async function put(...backlogs: readonly Backlog[]): Promise<void> {
  for (const { tenantId, webhooks, rows, dueSinceMs = 0, ready = true } of backlogs) {
    const ids = Array.from({ length: webhooks }, () => randomUUID());
    const text = `
      WITH scheduled AS (
        INSERT INTO webhooks.deliveries
          (id, tenant_id, webhook_id, message_id, event, origin, subject, body, created_at)
        SELECT gen_random_uuid(), $1, w, gen_random_uuid(), 'user.created', 'event', 's', 'b', now()
        FROM unnest($2::uuid[]) AS w CROSS JOIN generate_series(1, $3) RETURNING id, webhook_id)
      INSERT INTO webhooks.queue (delivery_id, tenant_id, webhook_id, origin, subject, run_at,
        attempts_made, position, ready)
      SELECT id, $1, webhook_id, 'event', 's', now() - $4 * interval '1 ms', 0, 1, $5 FROM scheduled`;
    await database.system.query(text, [tenantId, ids, rows, dueSinceMs, ready]);
  }
}

type Claiming = {
  readonly rounds: Rounds;
  readonly most?: number;
  readonly rooms?: ReadonlyMap<string, number>;
  readonly at?: Date;
  readonly owner?: string;
};

const claim = ({ rounds, most = MOST, rooms = new Map(), at, owner = 'one' }: Claiming) => {
  const now = at ?? new Date(Date.now() + 1_000);
  const leaseUntil = new Date(now.getTime() + LEASE_MS);
  const asking = { now, leaseUntil, owner, skip: [], most, rooms, roomElse: ROOM };
  return postgresQueue(database, rounds).claim(asking);
};

const countBy = (claimed: readonly Claimed[], name: 'tenantId' | 'webhookId') =>
  new Map([...Map.groupBy(claimed, (each) => each[name])].map(([key, all]) => [key, all.length]));

describe('a claim', () => {
  it('C1 gives each of 300 tenants its delivery within two rounds, whatever one tenant has due', async () => {
    await put({ tenantId: 'busy', webhooks: 400, rows: 8, dueSinceMs: 10 * MINUTE_MS });
    for (let at = 0; at < 300; at++) await put({ tenantId: `calm-${at}`, webhooks: 1, rows: 1 });
    const rounds = new Rounds();
    const first = await claim({ rounds });
    const second = await claim({ rounds });
    const both = [...first.claimed, ...second.claimed];
    const calm = both.filter(({ tenantId }) => tenantId.startsWith('calm'));
    expect(calm).toHaveLength(300);
    expect(both.length).toBeGreaterThan(300);
    expect(second.isMoreDue).toBe(true);
  });

  it('C1 gives a tenant its room and no more, and webhooks their width in turn', async () => {
    await put({ tenantId: 'busy', webhooks: 20, rows: 50 });
    const rounds = new Rounds();
    const first = await claim({ rounds });
    expect(first.claimed).toHaveLength(ROOM);
    expect([...countBy(first.claimed, 'webhookId').values()]).toEqual(Array(ROOM / WIDTH).fill(8));
    const full = await claim({ rounds, rooms: new Map([['busy', 0]]) });
    expect(full).toMatchObject({ claimed: [], isMoreDue: true });
    const second = await claim({ rounds, rooms: new Map([['busy', 40]]) });
    expect(second.claimed).toHaveLength(40);
    const served = countBy([...first.claimed, ...second.claimed], 'webhookId');
    expect(served.size).toBe((ROOM + 40) / WIDTH);
  });

  it('C1 goes on after the tenant where the last one ended, also when it was allowed few', async () => {
    const tenants = ['a', 'b', 'c', 'd', 'e'];
    for (const tenantId of tenants) await put({ tenantId, webhooks: 3, rows: 9 });
    const rounds = new Rounds();
    const served: string[] = [];
    for (let at = 0; at < 5; at++) {
      const { claimed } = await claim({ rounds, most: 2 });
      served.push(...claimed.map(({ tenantId }) => tenantId));
    }
    expect(served.join('')).toBe('abcdeabcde');
  });

  it('passes on from 256 tenants of whom nothing may be claimed', async () => {
    for (let at = 0; at < 260; at++) await put({ tenantId: `t-${at}`, webhooks: 1, rows: 9 });
    const rounds = new Rounds();
    // Every webhook has its maximum width.
    let taken = 0;
    for (let more = 1; more > 0; taken += more) more = (await claim({ rounds })).claimed.length;
    expect(taken).toBe(260 * WIDTH);
    await put({ tenantId: 'u', webhooks: 1, rows: 1 });
    const next = [await claim({ rounds }), await claim({ rounds })].flatMap(
      ({ claimed }) => claimed,
    );
    expect(next.map(({ tenantId }) => tenantId)).toEqual(['u']);
  });

  it('takes what has become due, what a dead process had leased, and nothing earlier', async () => {
    const at = new Date(Date.now() + 1_000);
    await put({ tenantId: 'later', webhooks: 1, rows: 2, dueSinceMs: -MINUTE_MS, ready: false });
    const rounds = new Rounds();
    const early = await claim({ rounds, at });
    expect(early).toMatchObject({ claimed: [], isMoreDue: false });
    expect(early.nextAt?.getTime()).toBeGreaterThan(at.getTime());
    const due = new Date(at.getTime() + MINUTE_MS);
    expect((await claim({ rounds, at: due, owner: 'dead' })).claimed).toHaveLength(2);
    expect((await claim({ rounds, at: due })).claimed).toHaveLength(0);
    const lapsed = new Date(due.getTime() + LEASE_MS);
    expect((await claim({ rounds, at: lapsed })).claimed).toHaveLength(2);
  });

  it('takes a backlog that becomes due at once page by page, and says that more is due', async () => {
    await put({ tenantId: 'busy', webhooks: 400, rows: 8, ready: false });
    const rounds = new Rounds();
    const at = new Date(Date.now() + 1_000);
    const { nextAt } = await claim({ rounds, at });
    expect(nextAt?.getTime()).toBeLessThan(at.getTime());
    const { rows } = await database.system.query('SELECT 1 FROM webhooks.queue WHERE ready');
    expect(rows).toHaveLength(1_000);
  });
});
