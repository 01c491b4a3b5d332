/**
 * A restore verifies each file while it loads it. If a file is damaged, the restore reports it before it loads the next
 * one, and removes everything that it loaded.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { testDatabase } from '@cardea/testing';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Manifest } from '../src/backup/manifest.ts';
import { cardeaFixture, running } from './cardea-fixture.ts';
import { emptyDatabases } from './empty-databases.ts';

const START_MS_MAX = 240_000;
const TUPLES = 40;

const database = testDatabase();
const empty = emptyDatabases(() => database.url);
const { run, folder, remove } = cardeaFixture(() => database.url);
const backups = mkdtempSync(join(tmpdir(), 'cardea-backups-'));
const saved = join(backups, 'whole');
let manifest: Manifest;

beforeAll(async () => {
  const { rest, stop } = await running(database.url);
  const owner = { email: 'owner@example.com', password: 'a password for the tests' };
  const organization = { company_name: 'Acme', ...owner };
  const { body } = await rest.post('/api/v1/auth/signup', organization);
  const as = rest.as({ bearer: body.access_token, tenant: body.tenant_id });
  const tuple = { user_type: 'user', user_id: 'ann', relation: 'viewer', object_type: 'document' };
  for (let nth = 0; nth < TUPLES; nth += 1) {
    const { status } = await as.post('/api/v1/fga/tuples', { ...tuple, object_id: `plan-${nth}` });
    expect(status).toBe(201);
  }
  expect(await run(`backup --out ${saved} --data ${folder}`)).toMatchObject({ code: 0 });
  await stop();
  manifest = JSON.parse(readFileSync(join(saved, 'manifest.json'), 'utf8')).manifest;
}, START_MS_MAX);
afterAll(async () => {
  await empty.drop();
  remove();
  rmSync(backups, { recursive: true, force: true });
});

type Step = {
  readonly loaded?: string;
  readonly checked?: number;
  readonly rebuilt?: string;
  readonly error?: { readonly code: string; readonly message: string };
};

async function restored(url: string, from: string) {
  const env = { DATABASE_URL: url };
  const { code, out } = await run(`restore --in ${from} --data ${folder} --json`, env);
  const steps: readonly Step[] = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return { code, steps, loaded: steps.flatMap((step) => step.loaded ?? []) };
}

async function schemasIn(url: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rowCount } = await client
    .query(`SELECT FROM pg_namespace WHERE nspname !~ '^pg_|^information_schema$|^public$'`)
    .finally(() => client.end());
  return rowCount ?? 0;
}

const SKIPPABLE_FRAME = 0x184d2a50;
const FRAME_HEADER_BYTES = 8;

/**
 * Changes one record in a file without changing its size. The file decompresses correctly and COPY accepts its rows, so
 * only its hash reveals the change. A frame that decompressors skip fills the bytes that better compression saves.
 */
function damaged(file: string): string {
  const copy = join(backups, 'damaged');
  cpSync(saved, copy, { recursive: true });
  const path = join(copy, file);
  const before = readFileSync(path);
  const rows = zstdDecompressSync(before);
  const at = rows.indexOf('plan-7"');
  expect(at).toBeGreaterThan(0);
  rows.write('plan-8"', at);
  const after = zstdCompressSync(rows, { params: { [constants.ZSTD_c_compressionLevel]: 19 } });
  const padding = Buffer.alloc(before.length - after.length);
  padding.writeUInt32LE(SKIPPABLE_FRAME, 0);
  padding.writeUInt32LE(padding.length - FRAME_HEADER_BYTES, 4);
  writeFileSync(path, Buffer.concat([after, padding]));
  expect(zstdDecompressSync(readFileSync(path)).equals(rows)).toBe(true);
  return copy;
}

describe('O11 a restore of a backup with one changed record', () => {
  const EVENTS = 'eventstore.events';
  const nameOf = ({ schema, name }: Manifest['tables'][number]) => `${schema}.${name}`;

  it('finds it while it loads that file, before it loads what follows, and leaves nothing', {
    timeout: START_MS_MAX,
  }, async () => {
    const at = manifest.tables.findIndex((each) => nameOf(each) === EVENTS);
    expect(at).toBeGreaterThan(0);
    expect(at).toBeLessThan(manifest.tables.length - 1);
    const url = await empty.make();
    const { file } = manifest.tables[at] ?? { file: '' };
    const { code, steps, loaded } = await restored(url, damaged(file));
    expect([code, steps.at(-1)?.error]).toEqual([
      1,
      { code: 'backup_damaged', message: expect.stringContaining(file) },
    ]);
    // The tables before the damaged one were loaded by then, because the files are not checked in a separate pass
    // first.
    expect(steps[0]?.checked).toBe(manifest.tables.length);
    expect(loaded).toEqual(manifest.tables.slice(0, at).map(nameOf));
    expect(steps.filter(({ rebuilt }) => rebuilt !== undefined)).toEqual([]);
    expect(await schemasIn(url)).toBe(0);
    const whole = await restored(url, saved);
    expect([whole.code, whole.loaded]).toEqual([0, manifest.tables.map(nameOf)]);
  });
});
