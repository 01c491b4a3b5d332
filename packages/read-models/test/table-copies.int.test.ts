import { text } from 'node:stream/consumers';
import { testDatabase } from '@cardea/testing';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CopyOut } from '../src/copies/copy-out.ts';
import { openLoad, openSnapshot } from '../src/index.ts';

const ROWS = 20_000;
const table = { schema: 'public', name: 'copied', columns: ['id', 'note'], days: [] };

const test = testDatabase();
let owner: Client;
beforeAll(async () => {
  owner = new Client({ connectionString: test.url });
  await owner.connect();
  await owner.query('CREATE TABLE public.copied (id integer, note text)');
  await owner.query('GRANT SELECT ON public.copied TO cardea_system');
  await owner.query(
    `INSERT INTO public.copied SELECT n, repeat('ä\t\\', n % 300) FROM generate_series(1, ${ROWS}) AS n`,
  );
});
afterAll(() => owner.end());

const sum = async (): Promise<unknown> =>
  (await owner.query('SELECT count(*), sum(hashtext(c::text)) FROM public.copied AS c')).rows[0];

describe('a snapshot of tables', () => {
  it('is read in parts over two connections, without what was written meanwhile', async () => {
    const before = await sum();
    const snapshot = await openSnapshot(test.url);
    const blocks = await snapshot.blocksOf(table);
    expect(blocks).toBeGreaterThan(100);
    await owner.query(`INSERT INTO public.copied VALUES (0, 'written meanwhile')`);
    const beside = await snapshot.beside();
    const half = Math.floor(blocks / 2);
    const parts = [
      snapshot.copyOut(table, { from: 0, to: half }),
      beside.copyOut(table, { from: half }),
    ];
    const texts = await Promise.all(parts.map((part) => text(part)));
    expect(parts.map(({ rowCount }) => rowCount > 0)).toEqual([true, true]);
    expect(parts.reduce((rows, { rowCount }) => rows + rowCount, 0)).toBe(ROWS);
    await Promise.all([snapshot.close(), beside.close()]);

    const load = await openLoad(test.url);
    for (const part of texts) {
      await load.prepare(table);
      const into = load.copyIn(table);
      await new Promise<void>((resolve, reject) => {
        into.on('error', reject).on('finish', resolve).end(part);
      });
    }
    await load.commit();
    await load.close();
    expect(await sum()).toEqual(before);
  });

  it('says what the server refused, also after many rows, and can be asked again', async () => {
    const failing = new CopyOut(
      'COPY (SELECT 1 / (90000 - n) FROM generate_series(1, 100000) AS n) TO STDOUT',
    );
    owner.query(failing);
    await expect(text(failing)).rejects.toMatchObject({ code: '22012' });
    const empty = new CopyOut('COPY (SELECT WHERE false) TO STDOUT');
    owner.query(empty);
    expect(await text(empty)).toBe('');
    expect(empty.rowCount).toBe(0);
    expect((await owner.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });

  it('stops where nobody reads on', async () => {
    const snapshot = await openSnapshot(test.url);
    const rows = snapshot.copyOut(table);
    for await (const page of rows) {
      expect(page.length).toBeGreaterThan(0);
      break;
    }
    expect(rows.destroyed).toBe(true);
    await snapshot.close();
  });
});
