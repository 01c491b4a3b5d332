/** Wrapped keys of a table are wrapped under another key while other processes change it. */
import {
  neverErased,
  type Sealed,
  type SubjectKeyTable,
  sealer,
  UnknownWrapKey,
  wrapKeys,
} from '@cardea/crypto';
import {
  foreignKeysOf,
  openDatabase,
  type PostgresDatabase,
  postgresSubjectKeys,
  rewrapTable,
  rowsByKey,
  subjectKeyTable,
} from '@cardea/read-models';
import { secret, systemClock } from '@cardea/runtime';
import { silentLogger, testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const [A, B, C] = ['a1', 'b2', 'c3'].map((pair) => pair.repeat(32)) as [string, string, string];
/** Three batches. */
const SUBJECTS = 1_200;
const table = subjectKeyTable('identity');
const keysOf = (current: string, previous?: string) =>
  wrapKeys(
    {
      ENCRYPTION_KEY: secret(current),
      ENCRYPTION_KEY_PREVIOUS: previous === undefined ? undefined : secret(previous),
    },
    table.info,
  );
const idOf = (key: string) => keysOf(key).current.id;
const placeOf = (nth: number) => ({
  subject: `user:${nth}`,
  streamId: `user-${nth}`,
  field: 'email',
});

const test = testDatabase();
let database: PostgresDatabase;
beforeAll(() => {
  database = openDatabase({ connectionString: test.url, log: silentLogger });
});
afterAll(() => database?.close());

const sealerUnder = (current: string, previous?: string) =>
  sealer({
    table: postgresSubjectKeys(database, 'identity'),
    keys: keysOf(current, previous),
    clock: systemClock,
  });

describe('keys of one turn', () => {
  const row = (subjectId: string, wrapped: string) => ({
    subjectId,
    tenantId: 't1',
    wrapped: Buffer.from(wrapped),
    kekId: 'none',
  });
  const two = () =>
    [0, 1].map(() => postgresSubjectKeys(database, 'vault')) as [SubjectKeyTable, SubjectKeyTable];

  it('are inserted together, the first of each subject', async () => {
    const [keys, elsewhere] = two();
    await elsewhere.insertIfAbsent(row('known', 'before'));
    await elsewhere.erase('gone');
    const asked = [row('new', 'first'), row('new', 'second'), row('known', 'after')];
    const made = await Promise.all([...asked, row('gone', 'again')].map(keys.insertIfAbsent));
    expect(made.map(({ wrapped }) => wrapped?.toString())).toEqual([
      'first',
      'first',
      'before',
      undefined,
    ]);
  });

  it('are the same to two who insert them in another order', async () => {
    const [one, other] = two();
    const subjects = Array.from({ length: 50 }, (_, nth) => `both ${nth}`);
    const by = (table: SubjectKeyTable, name: string, ids: readonly string[]) =>
      Promise.all(ids.map((id) => table.insertIfAbsent(row(id, name))));
    const [mine, theirs] = await Promise.all([
      by(one, 'one', subjects),
      by(other, 'other', subjects.toReversed()),
    ]);
    expect(mine).toEqual(theirs.toReversed());
  });
});

describe('wrapped keys', () => {
  it('are wrapped anew once each, by two at the same time, and what is erased meanwhile stays erased', async () => {
    const before = sealerUnder(A);
    const sealed: Sealed[] = [];
    for (let nth = 0; nth < SUBJECTS; nth += 1) {
      sealed.push(neverErased(await before.seal('t1', placeOf(nth), `person ${nth}`)));
    }
    await before.erase('user:0');
    const erase = async (): Promise<void> => {
      for (let nth = 5; nth < 1_000; nth += 10) await before.erase(`user:${nth}`);
    };
    const [one, other] = await Promise.all([
      rewrapTable(database, table, keysOf(B, A)),
      rewrapTable(database, table, keysOf(B, A)),
      erase(),
    ]);
    expect(one + other).toBeLessThanOrEqual(SUBJECTS - 1);
    expect(await rowsByKey(database, table)).toEqual(new Map([[idOf(B), SUBJECTS - 101]]));
    const after = sealerUnder(B);
    const opened: (string | null)[] = [];
    for (const [nth, each] of sealed.entries()) opened.push(await after.open(each, placeOf(nth)));
    const isErased = (nth: number) => nth === 0 || (nth % 10 === 5 && nth < 1_000);
    expect(opened).toEqual(sealed.map((_, nth) => (isErased(nth) ? null : `person ${nth}`)));
    expect(await rewrapTable(database, table, keysOf(B, A))).toBe(0);
  });

  it('under a third key are named, and stop the work', async () => {
    expect(await foreignKeysOf(database, table, keysOf(B))).toEqual([]);
    expect(await foreignKeysOf(database, table, keysOf(C, B))).toEqual([]);
    expect(await foreignKeysOf(database, table, keysOf(B, C))).toEqual([]);
    expect(await foreignKeysOf(database, table, keysOf(A, C))).toEqual([idOf(B)]);
    expect(await foreignKeysOf(database, table, keysOf(C))).toEqual([idOf(B)]);
    await expect(rewrapTable(database, table, keysOf(C, A))).rejects.toThrow(UnknownWrapKey);
    expect(await rowsByKey(database, table)).toEqual(new Map([[idOf(B), SUBJECTS - 101]]));
  });
});
