import { DatabaseUnavailable, openDatabase, type PostgresDatabase } from '@cardea/read-models';
import { silentLogger, testDatabase, untilTrue } from '@cardea/testing';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrateThings, OTHER_TENANT, TENANT } from './things.ts';

const ROUNDS = 1000;
const test = testDatabase();
let database: PostgresDatabase;
const make = (tenant: string, id: string) =>
  database.asTenant(tenant, (sql) =>
    sql.query('INSERT INTO things.things (tenant_id, id, name) VALUES ($1, $2, $2)', [tenant, id]),
  );
const idsSeenBy = (tenant: string) =>
  database.asTenant(tenant, async (sql) => {
    const { rows } = await sql.query<{ id: string }>('SELECT id FROM things.things ORDER BY id');
    return rows.map((row) => row.id);
  });

beforeAll(async () => {
  await migrateThings(test.url);
  // Two connections for many transactions, so that tenants alternate on each of them.
  database = openDatabase({
    connectionString: test.url,
    poolSize: 2,
    loopsPoolSize: 2,
    log: silentLogger,
  });
  await make(TENANT, 'a');
  await make(OTHER_TENANT, 'b');
});
afterAll(() => database.close());

describe('a tenant', () => {
  it('S3 sees its own rows only, through a query that names no tenant', async () => {
    expect(await idsSeenBy(TENANT)).toEqual(['a']);
    expect(await idsSeenBy(OTHER_TENANT)).toEqual(['b']);
  });

  it('S3 changes no row of another, and makes none there', async () => {
    await expect(
      database.asTenant(TENANT, (sql) =>
        sql.query("INSERT INTO things.things (tenant_id, id, name) VALUES ($1, 'c', 'c')", [
          OTHER_TENANT,
        ]),
      ),
    ).rejects.toThrow('row-level security');
    const { rowCount } = await database.asTenant(TENANT, (sql) =>
      sql.query("UPDATE things.things SET name = 'taken'"),
    );
    expect(rowCount).toBe(1);
    await database.asTenant(TENANT, (sql) =>
      sql.query('DELETE FROM things.things WHERE id <> $1', ['a']),
    );
    expect(await idsSeenBy(OTHER_TENANT)).toEqual(['b']);
  });

  it('S3 leaves nothing of itself on a connection, in 1,000 swaps on two connections', async () => {
    const wrong: string[] = [];
    const swap = async (round: number): Promise<void> => {
      const [tenant, own] = round % 2 === 0 ? [TENANT, 'a'] : [OTHER_TENANT, 'b'];
      const givesUp = round % 7 === 0;
      const work = database.asTenant(tenant, async (sql) => {
        const { rows } = await sql.query<{ id: string }>('SELECT id FROM things.things');
        if (givesUp) throw new Error('given up');
        return rows.map((row) => row.id).join();
      });
      const seen = await work.catch((error: Error) => error.message);
      if (seen !== (givesUp ? 'given up' : own)) wrong.push(`${round}: ${seen}`);
    };
    const rounds = Array.from({ length: ROUNDS }, (_, round) => round).values();
    const work = async (): Promise<void> => {
      for (const round of rounds) await swap(round);
    };
    await Promise.all(Array.from({ length: 8 }, work));
    expect(wrong).toEqual([]);
    const left = await withRole('cardea_app', "SELECT current_setting('cardea.tenant', true) AS t");
    expect(left).toEqual([{ t: null }]);
  });

  it('S3 sees nothing at all where a transaction names no tenant', async () => {
    expect(await withRole('cardea_app', 'SELECT * FROM things.things')).toEqual([]);
    const again = "BEGIN; SET LOCAL cardea.tenant = 'x'; COMMIT; SELECT * FROM things.things";
    expect(await withRole('cardea_app', again)).toEqual([]);
  });
});

describe('the roles', () => {
  it('S3 own nothing, log in nowhere, and pass no row-level security', async () => {
    const rows = await withRole(
      'none',
      `SELECT rolname, rolbypassrls, rolsuper, rolcanlogin,
         (SELECT count(*)::int FROM pg_class WHERE relowner = r.oid) AS owned
       FROM pg_roles r WHERE rolname IN ('cardea_app', 'cardea_system') ORDER BY rolname`,
    );
    const nobody = { rolbypassrls: false, rolsuper: false, rolcanlogin: false, owned: 0 };
    expect(rows).toEqual([
      { rolname: 'cardea_app', ...nobody },
      { rolname: 'cardea_system', ...nobody },
    ]);
  });

  it('S3 keep requests away from what belongs to the system', async () => {
    for (const table of ['subject_keys', 'projection_checkpoints', 'parked_events', 'changes']) {
      await expect(withRole('cardea_app', `SELECT * FROM things.${table}`)).rejects.toThrow(
        'permission denied',
      );
    }
  });
});

describe('the database', () => {
  it('answers unavailable within 2 s when every connection is taken, and recovers', async () => {
    const release = Promise.withResolvers<void>();
    const holders = [TENANT, OTHER_TENANT].map((tenant) =>
      database.asTenant(tenant, () => release.promise),
    );
    await expect(idsSeenBy(TENANT)).rejects.toThrow(DatabaseUnavailable);
    release.resolve();
    await Promise.all(holders);
    expect(await idsSeenBy(TENANT)).toEqual(['a']);
  });

  it('turns a killed connection into unavailable, and gets on with a new one', async () => {
    const killed = database.asTenant(TENANT, async (sql) => {
      const { rows } = await sql.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      await withRole('none', `SELECT pg_terminate_backend(${rows[0]?.pid})`);
      await sql.query('SELECT 1');
    });
    await expect(killed).rejects.toThrow(DatabaseUnavailable);
    expect(await untilTrue(() => idsSeenBy(TENANT))).toEqual(['a']);
  });

  it('fails a transaction whose error somebody swallowed', async () => {
    const swallowed = database.asTenant(TENANT, async (sql) => {
      await sql.query('SELECT 1/0').catch(() => undefined);
    });
    await expect(swallowed).rejects.toThrow('rolled back');
  });
});

async function withRole(role: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: test.url, options: `-c role=${role}` });
  await client.connect();
  try {
    const results = await client.query(sql);
    return (Array.isArray(results) ? results.at(-1) : results).rows;
  } finally {
    await client.end();
  }
}
