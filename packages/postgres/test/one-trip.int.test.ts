import { silentLogger as log, tcpProxy, testDatabase, untilTrue } from '@cardea/testing';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  JsonLines,
  openDatabase,
  type PostgresDatabase,
  printedRow,
  type Statement,
} from '../src/index.ts';

const test = testDatabase();
const opened: PostgresDatabase[] = [];
let owner: Client;

const single = (connectionString: string = test.url): PostgresDatabase => {
  const one = openDatabase({ connectionString, poolSize: 1, loopsPoolSize: 1, log });
  opened.push(one);
  return one;
};
const ADD = { name: 'add', text: 'INSERT INTO public.numbers (id) VALUES ($1) RETURNING id' };
const add = (id: number): Statement => ({ ...ADD, values: [id] });
const REFUSED: Statement = { text: 'SELECT 1 / 0' };
const TWICE = { name: 'twice', text: 'SELECT id * 2 AS twice FROM public.numbers ORDER BY id' };
const stored = async (): Promise<number[]> =>
  (await owner.query<{ id: number }>('SELECT id FROM public.numbers ORDER BY id')).rows.map(
    ({ id }) => id,
  );
const pid: Statement = { text: 'SELECT pg_backend_pid() AS pid' };

beforeAll(async () => {
  owner = new Client({ connectionString: test.url });
  await owner.connect();
  await owner.query(`CREATE TABLE public.numbers (id integer PRIMARY KEY,
    of integer REFERENCES public.numbers DEFERRABLE INITIALLY DEFERRED)`);
  await owner.query('GRANT ALL ON public.numbers TO cardea_system, cardea_app');
});
beforeEach(() => owner.query('DELETE FROM public.numbers'));
afterEach(async () => {
  for (const each of opened.splice(0)) void each.close();
});
afterAll(() => owner.end());

const CONTROLS = Array.from({ length: 31 }, (_, at) => String.fromCharCode(at + 1)).join('');
const TEXTS = [
  ...['plain', 'tab\tline\nbreak\r\b\f\v', 'back\\slash \\N', '\\N', '', null, 'Zoë 🌍 \u2028'],
  ...['"quoted"', `${CONTROLS}\u007f`, '{a,"b"}', '\\v\\"', ' '],
];
/** `at` has from zero to three digits of a fraction. */
const COPY_OF_TEXTS = `COPY (SELECT n, t, CASE WHEN t IS NOT NULL THEN ARRAY[t, 'a,b'] END, n % 2 = 1,
  CASE WHEN n > 1 THEN timestamp '2026-01-01' + 10 ^ (n - 2) * interval '1 ms' END
  FROM json_array_elements_text((SELECT current_setting('test.texts')::json))
    WITH ORDINALITY AS x (t, n)) TO STDOUT`;

const SLEEPING = `SELECT FROM pg_stat_activity
  WHERE query LIKE 'SELECT pg_sleep%' AND state = 'active' AND datname = current_database()`;

describe('statements sent at once', () => {
  it('are one transaction, and each answers its own rows', async () => {
    const [one, two, all] = await single().asSystemAtOnce<[{ id: number }, object, object]>([
      add(1),
      add(2),
      TWICE,
    ]);
    expect(one).toEqual({ rows: [{ id: 1 }], rowCount: 1 });
    expect(two.rowCount).toBe(1);
    expect(all.rows).toEqual([{ twice: 2 }, { twice: 4 }]);
    expect(await stored()).toEqual([1, 2]);
  });

  it('change nothing when one in the middle is refused, whose error is thrown', async () => {
    const one = single();
    const [before] = await one.asSystemAtOnce<[{ pid: number }]>([pid]);
    const refused = one.asSystemAtOnce([add(1), REFUSED, TWICE, add(2)]);
    await expect(refused).rejects.toMatchObject({ code: '22012' });
    expect(await stored()).toEqual([]);
    // The server has not prepared the statements that it skipped.
    const [after, , twice] = await one.asSystemAtOnce([pid, add(3), TWICE]);
    expect(after?.rows).toEqual(before.rows);
    expect(twice?.rows).toEqual([{ twice: 6 }]);
  });

  it('change nothing when the commit is refused', async () => {
    const orphan = { text: 'INSERT INTO public.numbers (id, of) VALUES (1, 2)' };
    await expect(single().asSystemAtOnce([orphan, add(3)])).rejects.toMatchObject({
      code: '23503',
    });
    expect(await stored()).toEqual([]);
  });

  it('are not sent when a value of one cannot be', async () => {
    const endless: { self?: unknown } = {};
    endless.self = endless;
    const one = single();
    await expect(
      one.asSystemAtOnce([add(1), { text: 'SELECT $1', values: [endless] }]),
    ).rejects.toThrow('circular');
    expect(await stored()).toEqual([]);
    await one.asSystemAtOnce([add(2)]);
  });

  it('throw an outage when the connection breaks, whatever the server has done', async () => {
    const gate = await tcpProxy({ port: Number(new URL(test.url).port) });
    const url = new URL(test.url);
    url.host = `127.0.0.1:${gate.port}`;
    const one = single(url.href);
    await one.system.query('SELECT 1');
    const broken = one.asSystemAtOnce([add(1), { text: 'SELECT pg_sleep(2)' }]);
    const isSleeping = async () => (await owner.query(SLEEPING)).rowCount === 1;
    await untilTrue(isSleeping);
    gate.cut();
    await expect(broken).rejects.toMatchObject({ name: 'DatabaseUnavailable' });
    // In this case the server has continued and committed.
    await untilTrue(async () => (await stored()).length === 1);
    await one.asSystemAtOnce([add(2)]);
    await gate.close();
  });

  it('belong to their tenant, and the next ones to theirs', async () => {
    const one = single();
    const mine = { text: "SELECT current_setting('cardea.tenant', true) AS tenant" };
    const [first, second] = await one.asTenantAtOnce('a', [mine, mine]);
    expect(first?.rows).toEqual([{ tenant: 'a' }]);
    expect(second?.rows).toEqual([{ tenant: 'a' }]);
    expect((await one.tenant("b'c").query(mine.text)).rows).toEqual([{ tenant: "b'c" }]);
    await expect(one.tenant('\0').query(mine.text)).rejects.toThrow();
    const other = await one.asTenant('d', (sql) => sql.query(mine.text));
    expect(other.rows).toEqual([{ tenant: 'd' }]);
  });

  it('give copied rows as text of any character, and answer what comes before and after', async () => {
    const rows: ReturnType<typeof printedRow>[] = [];
    const answers = await single().asTenantAtOnce<[object, object, object]>('a', [
      { text: "SELECT set_config('test.texts', $1, true)", values: [JSON.stringify(TEXTS)] },
      { text: COPY_OF_TEXTS, onCopied: (row) => void rows.push(printedRow(row)) },
      { text: 'SELECT 1 AS one' },
    ]);
    expect(answers[1].rowCount).toBe(TEXTS.length);
    expect(rows.map(([number, text]) => [number, text])).toEqual(
      TEXTS.map((text, at) => [String(at + 1), text]),
    );
    expect(answers[2].rows).toEqual([{ one: 1 }]);
  });

  it('give copied rows that become the lines of JSON.stringify', async () => {
    // The expected size is too small, so the lines have to grow.
    const lines = new JsonLines(
      [
        { name: 'number', form: 'text' },
        { name: 'text', form: 'text' },
        { name: 'texts', form: 'texts' },
        { name: 'is_odd', form: 'boolean' },
        { name: 'at', form: 'time' },
      ],
      1,
    );
    await single().asTenantAtOnce('a', [
      { text: "SELECT set_config('test.texts', $1, true)", values: [JSON.stringify(TEXTS)] },
      { text: COPY_OF_TEXTS, onCopied: (row) => lines.add(row) },
    ]);
    const expected = TEXTS.map((text, at) => ({
      number: String(at + 1),
      text,
      texts: text === null ? null : [text, 'a,b'],
      is_odd: at % 2 === 0,
      at: at === 0 ? null : new Date(Date.UTC(2026, 0, 1) + 10 ** (at - 1)),
    }));
    expect(String(lines.bytes)).toBe(expected.map((line) => `${JSON.stringify(line)}\n`).join(''));
    expect(lines.count).toBe(TEXTS.length);
  });

  it('throw what a receiver of copied rows throws', async () => {
    const one = single();
    const onCopied = () => {
      throw new Error('unreadable');
    };
    const copy = { text: 'COPY (SELECT generate_series(1, 3)) TO STDOUT', onCopied };
    await expect(one.asSystemAtOnce([copy])).rejects.toThrow('unreadable');
    expect((await one.asSystemAtOnce([pid]))[0]?.rowCount).toBe(1);
  });

  it('throw what a copy is refused in its middle, and use the connection again', async () => {
    const one = single();
    const [before] = await one.asSystemAtOnce<[{ pid: number }]>([pid]);
    const copy = { text: 'COPY (SELECT 1 / (3 - n) FROM generate_series(1, 5) AS n) TO STDOUT' };
    await expect(one.asSystemAtOnce([add(1), copy])).rejects.toMatchObject({ code: '22012' });
    expect(await stored()).toEqual([]);
    expect((await one.asSystemAtOnce<[{ pid: number }]>([pid]))[0].rows).toEqual(before.rows);
  });

  it('wait for no fsync where they need not be durable', async () => {
    const [answer] = await single().asSystemAtOnce(
      [{ text: "SELECT current_setting('synchronous_commit') AS durable" }],
      { durable: false },
    );
    expect(answer?.rows).toEqual([{ durable: 'off' }]);
  });

  it('take no connection beside that of an open transaction', async () => {
    const one = openDatabase({ connectionString: test.url, log });
    opened.push(one);
    const nested = one.asSystem(() => one.asSystemAtOnce([pid]));
    await expect(nested).rejects.toMatchObject({ name: 'NestedConnection' });
  });
});

describe('a transaction with a callback', () => {
  it('commits with its last statements', async () => {
    const one = single();
    const ids = await one.asSystem(async (sql) => {
      await sql.query(ADD, [1]);
      const [two, three] = await sql.commitWith<[{ id: number }, { id: number }]>([add(2), add(3)]);
      expect(await stored()).toEqual([1, 2, 3]);
      await expect(sql.query('SELECT 1')).rejects.toThrow('has ended');
      return [two.rows[0]?.id, three.rows[0]?.id];
    });
    expect(ids).toEqual([2, 3]);
  });

  it('is one round trip when its first statements are its last', async () => {
    const one = single();
    await one.asSystem((sql) => sql.commitWith([add(1)]), { durable: false });
    expect(await stored()).toEqual([1]);
  });

  it('changes nothing when one of its first and last statements is refused', async () => {
    const one = single();
    const [before] = await one.asSystemAtOnce<[{ pid: number }]>([pid]);
    const work = one.asSystem((sql) => sql.commitWith([add(1), REFUSED, add(2)]));
    await expect(work).rejects.toMatchObject({ code: '22012' });
    expect(await stored()).toEqual([]);
    const [after] = await one.asSystemAtOnce<[{ pid: number }]>([pid]);
    expect(after.rows).toEqual(before.rows);
  });

  it('is rolled back when one of the last statements is refused', async () => {
    const one = single();
    const work = one.asSystem(async (sql) => {
      await sql.query(ADD, [1]);
      await sql.commitWith([add(2), REFUSED, add(3)]);
    });
    await expect(work).rejects.toMatchObject({ code: '22012' });
    expect(await stored()).toEqual([]);
    await one.asSystemAtOnce([add(4)]);
    expect(await stored()).toEqual([4]);
  });

  it('fails when its COMMIT answers ROLLBACK, for the caller has swallowed an error', async () => {
    const work = (end: boolean) =>
      single().asSystem(async (sql) => {
        await sql.query(ADD, [1]);
        await sql.query(REFUSED.text).catch(() => undefined);
        if (end) await sql.commitWith([]);
      });
    await expect(work(false)).rejects.toThrow('was rolled back');
    await expect(work(true)).rejects.toThrow('was rolled back');
    expect(await stored()).toEqual([]);
  });

  it('runs no statement as a transaction of its own when BEGIN went with a refused one', async () => {
    const work = single().asSystem(async (sql) => {
      await sql.query(REFUSED.text).catch(() => undefined);
      await sql.query(ADD, [1]).catch(() => undefined);
    });
    await expect(work).rejects.toThrow('was rolled back');
    expect(await stored()).toEqual([]);
  });

  it('answers statements that do not wait for each other in their order', async () => {
    const answers = await single().asSystem((sql) =>
      Promise.all([1, 2, 3].map((id) => sql.query<{ id: number }>(ADD, [id]))),
    );
    expect(answers.map(({ rows }) => rows[0]?.id)).toEqual([1, 2, 3]);
    expect(await stored()).toEqual([1, 2, 3]);
  });

  it('sends nothing when its callback does not', async () => {
    expect(await single().asSystem(async () => 'nothing')).toBe('nothing');
  });
});
