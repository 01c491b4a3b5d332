import { type Database, selection } from '@cardea/read-models';
import { expect, it } from 'vitest';
import { Work } from '../engine/work.ts';
import type { Types } from '../relations/rules.ts';
import { ModelChanged, rowsOfModel } from './rows-of-model.ts';

const QUERY = {
  text: 'SELECT 1',
  select: selection({ relation: 'integer' }),
  order: 'relation',
  values: [],
};
const source = { tenantId: 't', work: new Work('t') };

/** A table whose model changes by this many versions between each version check and the reading of the rows. */
function movingTable(moves: number[]) {
  let version = 1;
  const typesOf = (of: number): Types => ({ [`v${of}`]: {} });
  return {
    tenant: () => ({ query: async () => ({ rows: [{ version, types: typesOf(version) }] }) }),
    asTenantAtOnce: async () => {
      version += moves.shift() ?? 0;
      const row = { model_version: version, is_found: true, relation: version };
      return [{}, {}, { rows: [row] }];
    },
  } as unknown as Database;
}
const read = (moves: number[]) => rowsOfModel(movingTable(moves), source, () => QUERY);

it.each([
  { moves: [], version: 1 },
  { moves: [1], version: 2 },
  { moves: [1, 1], version: 3 },
])('authz 23 the table has rows of the model that decides about them: $moves', async (of) => {
  const { types, rows } = await read(of.moves);
  expect(Object.keys(types ?? {})).toEqual([`v${of.version}`]);
  expect(rows.map(({ relation }) => relation)).toEqual([of.version]);
});

it('gives up on models that change faster than rows are read', async () => {
  await expect(read([1, 1, 1])).rejects.toThrow(ModelChanged);
});
