import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ServiceFixture, testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commands } from '../src/cli/commands.ts';
import { cardeaFixture, running, SECRETS } from './cardea-fixture.ts';

const database = testDatabase();
const nowhere = mkdtempSync(join(tmpdir(), 'cardea-cli-empty-'));
const { run: cardea, here, inJson, printed, folder, remove } = cardeaFixture(() => database.url);
let fixture: ServiceFixture;

beforeAll(async () => {
  fixture = await running(database.url);
});
afterAll(async () => {
  await fixture?.stop();
  remove();
  rmSync(nowhere, { recursive: true, force: true });
});

describe('O13 the command line', () => {
  it.each(commands)('tells how $name is used', async ({ name }) => {
    const help = await cardea(`${name} --help`);
    expect(help).toMatchObject({ code: 0, err: '' });
    expect(help.out).toContain(`npm run cardea -- ${name}`);
  });

  it('says what there is, and that an unknown word is none of it', async () => {
    expect(await cardea('--help')).toMatchObject({ code: 0, err: '' });
    const wrong = await cardea('canary-word');
    expect(wrong.code).toBe(2);
    expect(wrong.err).toContain('Usage');
    for (const { name } of commands) expect(wrong.err).toContain(name);
  });

  it.each(commands)('refuses an option that $name does not have', async ({ name, words = [] }) => {
    const line = `${name} ${words.map(() => 'x').join(' ')} --canary-option`;
    expect((await here(line)).code).toBe(2);
    const { code, last } = await inJson(line);
    expect(code).toBe(2);
    expect(last).toMatchObject({ ok: false, error: { message: expect.any(String) } });
  });

  it('finds no deployment in an empty place', async () => {
    const { code, err } = await cardea(`doctor --data ${nowhere}`);
    expect(code).toBe(78);
    expect(err).toContain('npm start');
    expect(await cardea('config check', { DATABASE_URL: '', CARDEA_DATA: nowhere })).toMatchObject({
      code: 78,
    });
  });
});

describe('O13 doctor', () => {
  it('looks at everything of a deployment that is well', async () => {
    const { code, last } = await untilTrue(async () => {
      const looked = await inJson(`doctor --management ${fixture.managementUrl}`);
      return looked.last.ok === true ? looked : undefined;
    });
    expect(code).toBe(0);
    const names = last.checks.map(({ name }: { name: string }) => name);
    for (const name of ['settings', 'database', 'clock', 'migrations', 'encryption key', 'bus']) {
      expect(names).toContain(name);
    }
    expect((await here('doctor')).out).toContain('stopped');
  });

  it('fails where rows are wrapped under another key', async () => {
    const key = 'deadbeef'.repeat(8);
    const ran = await cardea(`doctor --data ${folder} --json`, { ENCRYPTION_KEY: key });
    expect(ran.code).toBe(1);
    expect(ran.out).not.toContain(key);
    const failed = JSON.parse(ran.out).checks.filter(
      ({ status }: { status: string }) => status === 'failed',
    );
    expect(failed).toEqual([expect.objectContaining({ name: 'encryption key' })]);
  });

  it('fails where nothing answers', async () => {
    const url = 'postgres://canary:canary-password@127.0.0.1:1/x';
    const ran = await cardea(`doctor --data ${folder}`, { DATABASE_URL: url });
    expect(ran.code).toBe(1);
    expect(ran.out).toMatch(/FAILED\s+database/);
  });
});

describe('O13 the settings', () => {
  it('are checked, all at once and by their names alone', async () => {
    expect(await inJson('config check')).toMatchObject({ code: 0, last: { ok: true, faults: [] } });
    const bad = { PORT: 'canary-1', LOG_LEVEL: 'canary-2', JWT_EXPIRY: 'canary-3' };
    const ran = await cardea(`config check --data ${folder} --json`, bad);
    expect(ran.code).toBe(78);
    const { error } = JSON.parse(ran.out);
    expect(error.faults.map(({ name }: { name: string }) => name).toSorted()).toEqual(
      Object.keys(bad).toSorted(),
    );
    expect(ran.out).not.toContain('canary-');
  });

  it('are listed, without those that are secret', async () => {
    const { code, last } = await inJson('config list');
    expect(code).toBe(0);
    const by = (name: string) => last.settings.find((one: { name: string }) => one.name === name);
    expect(by('PORT')).toMatchObject({ value: '8080', secret: false });
    expect(by('JWT_SECRET')).toMatchObject({ value: '(set)', secret: true });

    const EVENTSTORE_URL = 'esdb://admin:canary-of-the-store@127.0.0.1:1?tls=false';
    for (const command of ['config check', 'config list', 'doctor']) {
      const ran = await cardea(`${command} --data ${folder} --json`, { EVENTSTORE_URL });
      expect(ran.out + ran.err).not.toContain('canary-of-the-store');
    }
  });

  it('of a new deployment come with secrets of their own', async () => {
    const first = await inJson('env');
    const { environment } = first.last;
    expect(environment.ENCRYPTION_KEY).toMatch(/^[0-9a-f]{64}$/);
    expect((await inJson('env')).last.environment.JWT_SECRET).not.toBe(environment.JWT_SECRET);
    expect(await cardea('config check', environment)).toMatchObject({ code: 0 });
  });
});

describe('O13 the database', () => {
  it('is brought forward, or told what would be', async () => {
    expect(await inJson('migrate --dry-run')).toMatchObject({ code: 0, last: { pending: [] } });
    expect(await inJson('migrate --all')).toMatchObject({ code: 0, last: { applied: [] } });
    const url = 'postgres://canary:canary-password@127.0.0.1:1/x';
    expect((await cardea(`migrate --data ${folder}`, { DATABASE_URL: url })).code).toBe(1);
  });

  it('holds projections whose state is shown, and that can be built anew', async () => {
    const users = await untilTrue(async () => {
      const { code, last } = await inJson('projections status');
      expect(code).toBe(0);
      const named = ({ projection }: { projection: string }) => projection === 'identity.users';
      const found = last.projections.find(named);
      return found.behind === '0' ? found : undefined;
    });
    expect(users).toMatchObject({ behind: '0', parked_streams: 0 });
    expect(await inJson('projections rebuild identity.users')).toMatchObject({
      code: 0,
      said: [{ rebuilt: 'identity.users' }, { ok: true }],
    });
    expect((await here('projections rebuild')).code).toBe(2);
    expect((await here('projections rebuild identity.none')).code).toBe(1);
  });

  it('needs no topics where there is no Kafka', async () => {
    expect(await inJson('topics create')).toMatchObject({ code: 0, last: { created: [] } });
    expect(await inJson('topics check')).toMatchObject({ code: 0, last: { faults: [] } });
    const env = { KAFKA_BROKERS: '127.0.0.1:1' };
    expect((await cardea(`topics check --data ${folder}`, env)).code).toBe(1);
  });
});

describe('O13 what waits', () => {
  const id = 'identity/projection:users/user-canary';
  const park = () =>
    fixture.shared.database.system.query(
      `INSERT INTO identity.parked_events (owner, stream_id, position, event_id, event_type, error_code)
       VALUES ('projection:users', 'user-canary', 1, gen_random_uuid(), 'UserRegistered', 'poison')`,
    );

  it('is listed, shown, released and discarded', async () => {
    expect(await inJson('parked list')).toMatchObject({ code: 0, last: { parked: [] } });
    await park();
    expect(await inJson('parked list')).toMatchObject({
      last: { parked: [{ id, events: 1, error_code: 'poison' }] },
    });
    expect(await inJson(`parked show ${id}`)).toMatchObject({
      code: 0,
      last: { events: [{ event_type: 'UserRegistered' }] },
    });
    expect((await here(`parked discard ${id} --reason gone`)).code).toBe(2);
    expect((await here(`parked discard ${id} --yes`)).code).toBe(2);
    expect(await inJson(`parked discard ${id} --reason gone --yes`)).toMatchObject({
      code: 0,
      last: { discarded: 1, reason: 'gone' },
    });
    expect(await inJson('parked list')).toMatchObject({ last: { parked: [] } });
    for (const command of [`show ${id}`, `discard ${id} --reason gone --yes`]) {
      expect((await here(`parked ${command}`)).code).toBe(1);
    }
    expect(await inJson(`parked release ${id}`)).toMatchObject({ code: 0, last: { events: 0 } });
    expect((await here('parked release nonsense')).code).toBe(2);
    expect((await here('parked release identity/projection:none/x')).code).toBe(1);
  });

  it('for the topics is told per log', async () => {
    const { code, last } = await inJson('relay status');
    expect(code).toBe(0);
    expect(last.relays).toHaveLength(6);
    const env = { DATABASE_URL: 'postgres://x:canary-password@127.0.0.1:1/x' };
    expect((await cardea(`relay status --data ${folder}`, env)).code).toBe(1);
  });
});

describe('O13 events', () => {
  it('are read in their order, and what is sealed stays sealed', async () => {
    const { code, said, last } = await inJson('events read identity --limit 5');
    expect(code).toBe(0);
    expect(last).toEqual({ ok: true, events: said.length - 1 });
    expect(said[0]).toMatchObject({ type: 'KeyAdded', data: { private: '(sealed)' } });
    expect((await here('events read identity --stream keyring-main')).out).toContain(
      'KeyActivated',
    );
    expect((await here('events read nothing')).code).toBe(2);
    expect((await here('events read identity --limit 0')).code).toBe(2);
  });

  it('are followed until Ctrl-C', async () => {
    const { code, said } = await inJson('events tail identity --after 0', 'once it has spoken');
    expect(code).toBe(0);
    expect(said[0]).toMatchObject({ type: 'KeyAdded' });
    expect((await here('events tail identity --after x')).code).toBe(2);
  });
});

describe('O13 people', () => {
  it('an administrator is made, whose password is said once', async () => {
    const { code, last } = await inJson('users create-admin ops@example.com');
    expect(code).toBe(0);
    printed.splice(0, printed.length, ...printed.map((one) => one.replaceAll(last.password, '')));
    const signedIn = await fixture.rest.post(
      '/api/v1/auth/login',
      { email: 'ops@example.com', password: last.password },
      { tenant: last.tenant_id },
    );
    expect(signedIn.status).toBe(200);
    expect((await here('users create-admin ops@example.com')).code).toBe(1);
    expect((await here('users create-admin nobody')).code).toBe(1);
    expect((await here('users create-admin')).code).toBe(2);
    const file = join(folder, 'password');
    writeFileSync(file, 'canary-chosen-password\n');
    const chosen = await inJson(`users create-admin two@example.com --password-file ${file}`);
    expect(chosen.last).not.toHaveProperty('password');
  });
});

describe('O13 the rest', () => {
  it('a mailbox takes ports and gives them back', async () => {
    const { code, said } = await inJson('mailbox --port 0 --smtp-port 0', 'once it has spoken');
    expect(code).toBe(0);
    expect(said[0]).toMatchObject({ smtp: expect.stringMatching(/^smtp:/) });
    expect((await here('mailbox --port 70000')).code).toBe(2);
  });

  it('nothing claims to verify what is not signed', async () => {
    expect((await here('audit verify')).code).toBe(2);
    expect((await cardea('--help')).out).not.toContain('audit');
  });

  it('no output of any command holds a secret', () => {
    const all = printed.join('\n');
    const password = new URL(database.url).password;
    const secrets = [SECRETS.JWT_SECRET, SECRETS.ENCRYPTION_KEY, SECRETS.POSTGRES_PASSWORD];
    for (const value of [...secrets, SECRETS.ADMIN_PASSWORD, 'canary-password', 'canary-chosen']) {
      expect(all).not.toContain(value);
      expect(all).not.toContain(Buffer.from(value).toString('base64').replace(/=+$/, ''));
      expect(all).not.toContain(Buffer.from(value).toString('hex'));
    }
    if (password.length > 8) expect(all).not.toContain(password);
    expect(readFileSync(join(folder, 'secrets.json'), 'utf8')).toContain(SECRETS.JWT_SECRET);
  });
});
