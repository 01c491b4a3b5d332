import type { Table } from '@cardea/read-models';
import { services } from '@cardea/standalone';
import { type ServiceFixture, serviceFixture, testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CHEAP } from './cardea-fixture.ts';

const database = testDatabase();
let fixture: ServiceFixture;

beforeAll(async () => {
  fixture = await serviceFixture({
    databaseUrl: database.url,
    definitions: services,
    env: { ...CHEAP },
  });
});
afterAll(() => fixture?.stop());

type Column = { readonly name: string; readonly type: string; readonly required: boolean };

async function columnsOf(schema: string, table: string): Promise<ReadonlyMap<string, Column>> {
  const { rows } = await fixture.shared.database.system.query<Column>(
    `SELECT attname AS name, attnotnull AS required,
       replace(format_type(atttypid, atttypmod), 'timestamp with time zone', 'timestamptz') AS type
     FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped`,
    [`${schema}.${table}`],
  );
  return new Map(rows.map((row) => [row.name, row]));
}

async function faultsOf(schema: string, { name, columns, nullable = [] }: Table) {
  const held = await columnsOf(schema, name);
  return Object.entries(columns).flatMap(([column, type]) => {
    const { type: heldAs, required } = held.get(column) ?? {};
    const where = `${schema}.${name}.${column}`;
    if (heldAs !== type) return [`${where} is ${heldAs}, not ${type}`];
    return required && nullable.includes(column) ? [`${where} may not be null`] : [];
  });
}

it('what the projections declare of their columns is what the database holds', async () => {
  const tables = fixture.host.projections.flatMap(({ service, projection }) =>
    projection.tables.map((table) => ({ service, table })),
  );
  expect(tables.length).toBeGreaterThan(15);
  const faults: string[] = [];
  for (const { service, table } of tables) faults.push(...(await faultsOf(service, table)));
  expect(faults).toEqual([]);
});
