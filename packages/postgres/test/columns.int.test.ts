import { silentLogger as log, testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  jsonOf,
  openDatabase,
  orNull,
  type PostgresDatabase,
  type RowOf,
  selection,
  textOf,
} from '../src/index.ts';

const test = testDatabase();
let database: PostgresDatabase;
beforeAll(() => {
  database = openDatabase({ connectionString: test.url, log });
});
afterAll(() => database.close());

const EACH = selection({
  a_text: textOf<'on' | 'off'>(),
  a_uuid: 'uuid',
  a_boolean: 'boolean',
  a_smallint: 'smallint',
  an_integer: 'integer',
  a_bigint: 'bigint',
  a_timestamptz: 'timestamptz',
  a_bytea: 'bytea',
  a_jsonb: jsonOf<{ readonly all: readonly number[] }>(),
  some_text: 'text[]',
  a_null: orNull('text'),
});

it('a column of each type is read as its declaration says', async () => {
  const { rows } = await database.system.query<RowOf<typeof EACH>>(
    `SELECT ${EACH.columns} FROM (SELECT 'on' AS a_text,
       '01890a5d-ac96-774b-bcce-b302099a8057'::uuid AS a_uuid, true AS a_boolean,
       1::smallint AS a_smallint, 2 AS an_integer, 9007199254740993 AS a_bigint,
       '2026-01-02T03:04:05Z'::timestamptz AS a_timestamptz, '\\x00ff'::bytea AS a_bytea,
       '{"all": [1]}'::jsonb AS a_jsonb, ARRAY['a', 'b'] AS some_text, NULL::text AS a_null) AS one`,
  );
  const read: RowOf<typeof EACH> = {
    a_text: 'on',
    a_uuid: '01890a5d-ac96-774b-bcce-b302099a8057',
    a_boolean: true,
    a_smallint: 1,
    an_integer: 2,
    a_bigint: '9007199254740993',
    a_timestamptz: new Date('2026-01-02T03:04:05Z'),
    a_bytea: Buffer.from([0x00, 0xff]),
    a_jsonb: { all: [1] },
    some_text: ['a', 'b'],
    a_null: null,
  };
  expect(rows).toEqual([read]);
});
