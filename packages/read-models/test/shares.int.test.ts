import { dueInTurns, openDatabase, type PostgresDatabase } from '@cardea/read-models';
import { silentLogger, testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const POOL_SIZE = 8;
const SLEEP_SECONDS = 0.5;
/** After this time without tenants alternating, nothing counts as shared any more. */
const SHARED_MS = 1_100;
const GIVEN_OUT_MS = 400;

const migrated = testDatabase();
let database: PostgresDatabase;
beforeAll(() => {
  const options = { connectionString: migrated.url, log: silentLogger };
  database = openDatabase({ ...options, poolSize: POOL_SIZE });
});
afterAll(() => database?.close());

describe('connections for requests', () => {
  it('C1 stay free for others while a tenant has as many as it may', async () => {
    const ended: string[] = [];
    const busy = Array.from({ length: 10 }, async () => {
      await database.tenant('busy').query('SELECT pg_sleep($1)', [SLEEP_SECONDS]);
      ended.push('busy');
    });
    const calm = database
      .asTenantAtOnce('calm', [{ text: 'SELECT 1' }])
      .then(() => ended.push('calm'));
    expect(database.pools()[0]?.waiting).toBeGreaterThanOrEqual(4);
    await Promise.all([...busy, calm]);
    expect(ended.indexOf('calm')).toBeLessThan(2);
    expect(database.pools()[0]?.waiting).toBe(0);
  });

  it('C1 are fewer for a tenant while others use some, and those of a tenant alone are many', async () => {
    const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
    /** How many of the tenant's requests wait for a connection. */
    const waitingOf = async (tenant: string) => {
      const asked = Array.from({ length: POOL_SIZE / 2 }, () =>
        database.tenant(tenant).query('SELECT pg_sleep($1)', [2 * SLEEP_SECONDS]),
      );
      // The driver also counts requests that are just getting a connection.
      await pause(GIVEN_OUT_MS);
      const waiting = database.pools()[0]?.waiting;
      await Promise.all(asked);
      return waiting;
    };
    await pause(SHARED_MS);
    const alone = await waitingOf('alone');
    await pause(SHARED_MS);
    await Promise.all(['calm', 'busy'].map((tenant) => database.tenant(tenant).query('SELECT 1')));
    expect([alone, await waitingOf('busy')]).toEqual([0, POOL_SIZE / 4]);
  });
});

describe('a queue that all tenants share', () => {
  it('C1 gives what is due in turns between tenants, and what is not due yet last', async () => {
    const now = new Date();
    const rows = [
      ...Array.from({ length: 40 }, (_, at) => ['busy', `busy ${at}`, at - 1_000] as const),
      ...['a', 'b', 'c'].map((tenant) => [tenant, `${tenant} 0`, -1] as const),
      ['a', 'a 1', -1],
      ['d', 'd later', 1_000],
    ] as const;
    const text = dueInTurns({ table: 'pg_temp.mails', columns: 'name', dueAt: 'due_at' });
    const names = await database.asSystem(async (sql) => {
      await sql.query(
        'CREATE TEMP TABLE mails (tenant_id text, name text, due_at timestamptz) ON COMMIT DROP',
      );
      await sql.query(
        `INSERT INTO pg_temp.mails SELECT * FROM unnest($1::text[], $2::text[], $3::timestamptz[])`,
        [
          rows.map(([tenant]) => tenant),
          rows.map(([, name]) => name),
          rows.map(([, , ms]) => new Date(now.getTime() + ms)),
        ],
      );
      const until = new Date(now.getTime() + 10_000);
      const found = await sql.query<{ name: string }>(text, [now, until, 16]);
      return found.rows.map(({ name }) => name);
    });
    expect(names).toHaveLength(16);
    expect(names.slice(0, 4).toSorted()).toEqual(['a 0', 'b 0', 'busy 0', 'c 0']);
    expect(names.slice(4, 6).toSorted()).toEqual(['a 1', 'busy 1']);
    expect(names).not.toContain('d later');
  });
});
