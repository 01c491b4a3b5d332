import { silentLogger as log, testDatabase } from '@cardea/testing';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, type PostgresDatabase, pageOfTenants, selection } from '../src/index.ts';

const test = testDatabase();
let owner: Client;
let database: PostgresDatabase;

beforeAll(async () => {
  owner = new Client({ connectionString: test.url });
  await owner.connect();
  await owner.query('CREATE TABLE public.listed AS SELECT n FROM generate_series(1, 5) AS n');
  await owner.query('GRANT SELECT ON public.listed TO cardea_system');
  database = openDatabase({ connectionString: test.url, log });
});
afterAll(async () => {
  await database.close();
  await owner.end();
});

const page = (offset: number, limit: number | null) =>
  pageOfTenants(database, {
    select: selection({ n: 'integer' }),
    from: 'public.listed',
    where: 'n > $1',
    values: [1],
    order: 'n DESC',
    offset,
    limit,
  });

describe('a page of rows', () => {
  it('has the rows from its offset to its limit, and the total of the list', async () => {
    expect(await page(1, 2)).toEqual({ rows: [{ n: 4 }, { n: 3 }], total: 4 });
  });

  it('past the end has no rows, and still the total', async () => {
    expect(await page(4, 2)).toEqual({ rows: [], total: 4 });
  });

  it('without a limit has all rows', async () => {
    expect((await page(0, null)).rows).toHaveLength(4);
  });

  it('reads a stored total instead of counting', async () => {
    const { total } = await pageOfTenants(database, {
      select: selection({ n: 'integer' }),
      from: 'public.listed',
      where: 'n > $1',
      values: [1],
      order: 'n',
      offset: 0,
      limit: 1,
      total: 'SELECT 7::bigint AS total WHERE $1::integer = 1',
    });
    expect(total).toBe(7);
  });

  it('is read in one round trip', async () => {
    let trips = 0;
    const counted = {
      asSystemAtOnce: ((...of) => {
        trips += 1;
        return database.asSystemAtOnce(...of);
      }) as PostgresDatabase['asSystemAtOnce'],
    };
    await pageOfTenants(counted, {
      select: selection({ n: 'integer' }),
      from: 'public.listed',
      where: 'true',
      values: [],
      order: 'n',
      offset: 0,
      limit: 1,
    });
    expect(trips).toBe(1);
  });
});
