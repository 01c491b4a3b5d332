import { createHash } from 'node:crypto';
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ServiceFixture, testDatabase, untilTrue } from '@cardea/testing';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Manifest, writeManifest } from '../src/backup/manifest.ts';
import { cardeaFixture, exampleOf, running, SECRETS } from './cardea-fixture.ts';
import { emptyDatabases } from './empty-databases.ts';

const TUPLES = 300;
const START_MS_MAX = 240_000;

const database = testDatabase();
const empty = emptyDatabases(() => database.url);
const { run, folder, printed, remove } = cardeaFixture(() => database.url);
const backups = mkdtempSync(join(tmpdir(), 'cardea-backups-'));
const saved = join(backups, 'first');

beforeAll(async () => {
  const fixture = await running(database.url);
  await someLife(fixture);
  keys = fixture.shared;
  const ran = await run(`${exampleOf('backup', { out: saved })} --data ${folder} --json`);
  expect(ran).toMatchObject({ code: 0, err: '' });
  await fixture.stop();
}, START_MS_MAX);
afterAll(async () => {
  await empty.drop();
  remove();
  rmSync(backups, { recursive: true, force: true });
});

let keys: Parameters<typeof writeManifest>[2];
const owner = { email: 'owner@example.com', password: 'a password for the tests' };

/** Creates accounts, tuples, a secret, and their rows of the audit log. */
async function someLife({ rest }: ServiceFixture): Promise<void> {
  const organization = { company_name: 'Acme', ...owner };
  const signedUp = await rest.post('/api/v1/auth/signup', organization);
  expect(signedUp.status, signedUp.text).toBe(201);
  const { access_token: bearer, tenant_id } = signedUp.body;
  tenant = tenant_id;
  const as = rest.as({ bearer, tenant });
  for (let nth = 0; nth < TUPLES; nth += 1) {
    expect((await as.post('/api/v1/fga/tuples', tupleOf(`before-${nth}`))).status).toBe(201);
  }
  await untilTrue(async () => (await audited(as)) === TUPLES, { what: 'all of it is audited' });
}

let tenant = '';
const tupleOf = (object_id: string) => ({
  user_type: 'user',
  user_id: 'ann',
  relation: 'viewer',
  object_type: 'document',
  object_id,
});

async function audited(as: ServiceFixture['rest']): Promise<number> {
  const query = { type: 'admin.fga.write_tuple', limit: 1000 };
  return (await as.get('/api/v1/audit/events', { query })).body.events.length;
}

const restoreTo = (url: string, from: string, env: { [name: string]: string } = {}) =>
  run(`${exampleOf('restore', { in: from })} --data ${folder} --json`, {
    DATABASE_URL: url,
    ...env,
  });

const lastOf = ({ out }: { readonly out: string }) =>
  JSON.parse(out.trim().split('\n').at(-1) ?? '');

/** A hash of all rows of each table, in the order of its key. */
async function contentOf(url: string): Promise<{ readonly [table: string]: string }> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    `SELECT c.oid::regclass::text AS name FROM pg_class AS c
     JOIN pg_namespace AS n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname = ANY($1)`,
    [['eventstore', 'identity', 'authz', 'vault', 'approval', 'webhooks', 'audit']],
  );
  const content: { [table: string]: string } = {};
  for (const { name } of rows.filter(({ name: table }) => !NOT_COMPARED.test(table))) {
    const found = await client.query<{ row: string }>(
      `SELECT to_jsonb(t)::text AS row FROM ${name} AS t ORDER BY 1`,
    );
    const hash = createHash('sha256');
    for (const { row } of found.rows) hash.update(`${row}\n`);
    content[name] = `${found.rows.length} ${hash.digest('hex')}`;
  }
  await client.end();
  return content;
}
/** Tables that differ legitimately: times of writing, and positions, which are compared by their effect. */
const NOT_COMPARED = /schema_migrations|_checkpoints|consumer_positions/;

describe('O11 a backup', () => {
  it('is restored row by row into an empty database, projections included', async () => {
    const url = await empty.make();
    const ran = await restoreTo(url, saved);
    expect(ran, ran.out + ran.err).toMatchObject({ code: 0, err: '' });
    const before = await contentOf(database.url);
    expect(before['eventstore.events']).toMatch(/^3\d\d /);
    expect(await contentOf(url)).toEqual(before);
  });

  it('of the format before tables came in parts is restored, too', async () => {
    const older = changed('format-1', (copy) =>
      writeManifest(copy, { ...manifestOf(copy).manifest, format: 1 }, keys),
    );
    const url = await empty.make();
    const ran = await restoreTo(url, older);
    expect(ran, ran.out + ran.err).toMatchObject({ code: 0, err: '' });
    expect(await contentOf(url)).toEqual(await contentOf(database.url));
  });

  it('goes on: every consumer applies what is new once, though positions are given out again', {
    timeout: START_MS_MAX,
  }, async () => {
    const url = await empty.make();
    const { epoch } = lastOf(await restoreTo(url, saved));
    const fixture = await running(url);
    try {
      const body = { ...owner };
      const { body: told } = await fixture.rest.post('/api/v1/auth/login', body, { tenant });
      const as = fixture.rest.as({ bearer: told.access_token, tenant });
      for (let nth = 0; nth < TUPLES; nth += 1) {
        expect((await as.post('/api/v1/fga/tuples', tupleOf(`after-${nth}`))).status).toBe(201);
      }
      await untilTrue(async () => (await audited(as)) === 2 * TUPLES, { what: 'all is audited' });
      const { rows } = await fixture.shared.database.system.query<{ epochs: string[] }>(
        `SELECT array_agg(DISTINCT value->>'logEpoch') AS epochs FROM bus.records`,
      );
      expect(rows[0]?.epochs).toEqual([epoch]);
      const lags = await fixture.shared
        .subscriberFor('audit')
        .lag('audit', ['cardea.authz.events.v1']);
      expect([...lags.values()]).toEqual([0]);
      expect(await audited(as)).toBe(2 * TUPLES);
    } finally {
      await fixture.stop();
    }
  });

  it('holds no secret of the deployment, and is readable by its owner alone', () => {
    for (const name of readdirSync(saved)) {
      const file = join(saved, name);
      expect(statSync(file).mode & 0o077, name).toBe(0);
      const text = readFileSync(file).toString('latin1');
      for (const secret of Object.values(SECRETS)) expect(text.includes(secret), name).toBe(false);
    }
    expect(statSync(saved).mode & 0o077).toBe(0);
    expect(printed.join('')).not.toContain(SECRETS.ENCRYPTION_KEY);
  });
});

const changed = (name: string, change: (folder: string) => void): string => {
  const copy = join(backups, name);
  cpSync(saved, copy, { recursive: true });
  change(copy);
  return copy;
};
const EVENTS = 'eventstore.events.copy.zst';
const manifestOf = (copy: string) =>
  JSON.parse(readFileSync(join(copy, 'manifest.json'), 'utf8')) as { manifest: Manifest };

describe('O11 a restore is refused, and writes nothing,', () => {
  let url = '';
  beforeAll(async () => {
    url = await empty.make();
  });
  const schemasThere = async () => {
    const client = new Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query(
      `SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_|^information_schema$|^public$'`,
    );
    await client.end();
    return rows;
  };

  it.each<{ what: string; code: number; reason: string; from: () => string }>([
    {
      what: 'of half a file',
      ...{ code: 1, reason: 'backup_damaged' },
      from: () =>
        changed('half', (copy) =>
          truncateSync(join(copy, EVENTS), Math.floor(statSync(join(copy, EVENTS)).size / 2)),
        ),
    },
    {
      what: 'where one byte of a file is another, which its loading alone would not notice',
      ...{ code: 1, reason: 'backup_damaged' },
      from: () =>
        changed('flipped', (copy) => {
          const file = join(copy, EVENTS);
          const bytes = readFileSync(file);
          const last = bytes.length - 1;
          bytes[last] = (bytes[last] ?? 0) ^ 1;
          writeFileSync(file, bytes);
        }),
    },
    {
      what: 'where a file is missing',
      ...{ code: 1, reason: 'backup_damaged' },
      from: () => changed('missing', (copy) => rmSync(join(copy, EVENTS))),
    },
    {
      what: 'of a manifest that was changed',
      ...{ code: 1, reason: 'backup_damaged' },
      from: () =>
        changed('manifest', (copy) => {
          const stored = manifestOf(copy);
          const tables = stored.manifest.tables.map((each) => ({ ...each, rows: each.rows + 1 }));
          const manifest = { ...stored.manifest, tables };
          writeFileSync(join(copy, 'manifest.json'), JSON.stringify({ ...stored, manifest }));
        }),
    },
    {
      what: 'of a backup that was broken off',
      ...{ code: 1, reason: 'backup_incomplete' },
      from: () => changed('off', (copy) => rmSync(join(copy, 'manifest.json'))),
    },
    {
      what: 'of a folder that is none',
      ...{ code: 1, reason: 'backup_incomplete' },
      from: () => join(backups, 'nowhere'),
    },
  ])('$what', async ({ from, code, reason }) => {
    const ran = await restoreTo(url, from());
    expect(ran.code, ran.out).toBe(code);
    expect(lastOf(ran)).toMatchObject({ ok: false, error: { code: reason } });
    expect(await schemasThere()).toEqual([]);
  });

  it('under another ENCRYPTION_KEY, of which only ids are shown', async () => {
    const key = 'deadbeef'.repeat(8);
    const ran = await restoreTo(url, saved, { ENCRYPTION_KEY: key });
    expect(ran.code).toBe(78);
    expect(lastOf(ran).error).toMatchObject({ code: 'backup_other_key' });
    expect(ran.out).not.toContain(key);
    expect(await schemasThere()).toEqual([]);
  });

  it('where there is something already', async () => {
    const ran = await restoreTo(database.url, saved);
    expect(ran.code).toBe(1);
    expect(lastOf(ran).error).toMatchObject({ code: 'database_not_empty' });
  });

  it('with words that are missing, or a place where no folder can be', async () => {
    expect((await run(`restore --data ${folder}`)).code).toBe(2);
    expect((await run(`backup --data ${folder}`)).code).toBe(2);
    expect(lastOf(await run(`backup --data ${folder} --out ${saved} --json`)).error).toMatchObject({
      code: 'folder_not_empty',
    });
    const below = join(saved, 'manifest.json/below');
    expect(lastOf(await run(`backup --data ${folder} --out ${below} --json`)).error).toMatchObject({
      code: 'folder_not_writable',
    });
  });
});
