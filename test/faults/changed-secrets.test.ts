/** ENCRYPTION_KEY and JWT_SECRET are changed twice, at two replicas that serve in the meantime. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UnknownWrapKey, wrapKeys } from '@cardea/crypto';
import { secret } from '@cardea/runtime';
import { services } from '@cardea/standalone';
import {
  processFixture,
  programOf,
  type ServiceFixture,
  serviceFixture,
  testDatabase,
  testForm,
  untilTrue,
} from '@cardea/testing';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agentsAndKeysOf, startSession } from '../security/agents-and-keys.ts';
import { expectStatus, type Person, type Users, usersOf } from '../security/users.ts';
import { CHEAP_HASHES } from './instance.ts';

const CARDEA = programOf(new URL('../../services/standalone/src/cardea.ts', import.meta.url));
const CHEAP = { ...CHEAP_HASHES, RATE_LIMIT_FACTOR: '1000' };
const TEST_MS_MAX = 400_000;
/** Without a pause, the traffic would take a whole core from the work beside it. */
const PAUSE_MS = testForm.long ? 20 : 80;
/** More rows than one batch wraps. */
const SUBJECTS = 700;

type Letter = 'A' | 'B' | 'C';
const KEYS = { A: 'a1'.repeat(32), B: 'b2'.repeat(32), C: 'c3'.repeat(32) };
const secrets = (now: Letter, other?: Letter): { readonly [name: string]: string } => ({
  ENCRYPTION_KEY: KEYS[now],
  JWT_SECRET: `the secret ${now} of this deployment, long enough`,
  ...(other === undefined
    ? {}
    : {
        ENCRYPTION_KEY_PREVIOUS: KEYS[other],
        JWT_SECRET_PREVIOUS: `the secret ${other} of this deployment, long enough`,
      }),
});
const idOf = (letter: Letter): string =>
  wrapKeys(
    { ENCRYPTION_KEY: secret(KEYS[letter]), ENCRYPTION_KEY_PREVIOUS: undefined },
    'dek-wrap/v1',
  ).current.id;

const database = testDatabase();
const processes = processFixture();
const folder = mkdtempSync(join(tmpdir(), 'cardea-changed-secrets-'));
const replicas: ServiceFixture[] = [];
let sql: Client;

const replica = (env: { readonly [name: string]: string }): Promise<ServiceFixture> =>
  serviceFixture({
    databaseUrl: database.url,
    definitions: services.filter(({ name }) => name === 'identity' || name === 'vault'),
    env: { ...CHEAP, PUBLIC_URL: 'http://cardea.test', ...env },
  });

/** Restarts one replica after another, as in a rolling update: old and new serve at the same time. */
async function roll(env: { readonly [name: string]: string }): Promise<void> {
  for (const at of [0, 1]) {
    const old = replicas[at];
    replicas[at] = await replica(env);
    // The old replica first answers the requests that it has received.
    await untilTrue(() => (traffic?.at(old) ?? 0) === 0, { what: 'the old one is idle' });
    await old?.stop();
  }
}

async function cardea(
  words: string,
  env: { readonly [name: string]: string },
): Promise<{ code: number | string; said: Record<string, never>; output: string }> {
  const running = await processes.start({
    name: 'cardea',
    script: CARDEA,
    args: [...words.split(' '), '--json', '--data', folder],
    env: { DATABASE_URL: database.url, ...CHEAP, ...env },
  });
  const code = await running.ended;
  const output = running.output().trim();
  return {
    code,
    output,
    said: code === 'SIGKILL' ? {} : JSON.parse(output.split('\n').at(-1) ?? '{}'),
  };
}

/** Rows of wrapped keys by the id of their wrapping key, over all tables. */
async function keysInUse(): Promise<Record<string, number>> {
  const { rows } = await sql.query(`
    SELECT kek_id, count(*)::int AS rows FROM (
      ${services.map(({ name }) => `SELECT kek_id, wrapped FROM ${name}.subject_keys`).join(' UNION ALL ')}
      UNION ALL SELECT kek_id, wrapped FROM vault.tenant_keys
    ) AS every WHERE wrapped IS NOT NULL GROUP BY kek_id`);
  return Object.fromEntries(rows.map(({ kek_id, rows: count }) => [kek_id, count]));
}

type Traffic = {
  readonly done: () => number;
  readonly failures: readonly string[];
  /** The number of requests in progress at the replica. */
  at(fixture: ServiceFixture | undefined): number;
  stop(): Promise<void>;
};
let traffic: Traffic | undefined;

/** Sends vends, fresh and reused, sign-ins and refreshes, to one replica after another, until it is stopped. */
function startTraffic(users: Users, owner: Person, member: Person, key: string): Traffic {
  const failures: string[] = [];
  const underWay = new Map<ServiceFixture, number>();
  let done = 0;
  let stopped = false;
  let refresh = member.refresh;
  const { tenantId: tenant } = owner;
  const round = async (fixture: ServiceFixture): Promise<void> => {
    const note = (what: string, status: number, text: string): void => {
      done += 1;
      if (status >= 300) failures.push(`${what}: ${status} ${text}`);
    };
    const renewed = await fixture.rest.post('/api/v1/auth/refresh', { refresh_token: refresh });
    note('refresh', renewed.status, renewed.text);
    refresh = renewed.body.refresh_token ?? refresh;
    const body = { email: owner.email, password: 'a long enough phrase' };
    const signedIn = await fixture.rest.post('/api/v1/auth/login', body, { tenant });
    note('login', signedIn.status, signedIn.text);
    const access = renewed.body.access_token;
    const session = await startSession(fixture.rest, { ...member, access }, key);
    for (const force_refresh of [false, false, true]) {
      const vend = { service_name: 'billing', fields: ['api_key'], force_refresh };
      const path = `/api/v1/agent/sessions/${session.sessionId}/credentials`;
      const headers = { 'x-service-token': session.capability };
      const given = await fixture.rest.post(path, vend, { bearer: key, tenant, headers });
      note('vend', given.status, given.text);
      if (given.body?.data?.fields?.api_key !== 'sk-kept-through-it-all') failures.push('no value');
    }
    const made = await fixture.rest.post(
      '/api/v1/admin/users',
      { email: users.newEmail(), roles: ['member'] },
      { tenant, bearer: signedIn.body.access_token },
    );
    note('create user', made.status, made.text);
  };
  const running = (async () => {
    for (let turn = 0; !stopped; turn += 1) {
      const fixture = replicas[turn % 2] as ServiceFixture;
      underWay.set(fixture, (underWay.get(fixture) ?? 0) + 1);
      await round(fixture).catch((error: unknown) => failures.push(String(error)));
      underWay.set(fixture, (underWay.get(fixture) ?? 1) - 1);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  })();
  return {
    done: () => done,
    failures,
    at: (fixture) => (fixture === undefined ? 0 : (underWay.get(fixture) ?? 0)),
    stop: async () => {
      stopped = true;
      await running;
    },
  };
}

beforeAll(async () => {
  // The command line recognises a data folder by this file; the secrets come from its environment.
  writeFileSync(join(folder, 'secrets.json'), JSON.stringify({ POSTGRES_PASSWORD: 'unused' }));
  sql = new Client({ connectionString: database.url });
  await sql.connect();
  for (const _ of [0, 1]) replicas.push(await replica(secrets('A')));
  const [one] = replicas as [ServiceFixture];
  const users = usersOf(one.rest);
  const owner = await users.signUp('Acme');
  const member = await users.addUser(owner, ['member']);
  const by = one.rest.as({ bearer: owner.access, tenant: owner.tenantId });
  const service = { name: 'billing', credential_type: 'static', fields: [{ name: 'api_key' }] };
  expectStatus(await by.post('/api/v1/vault/services', service), 201);
  const value = { fields: { api_key: 'sk-kept-through-it-all' } };
  expectStatus(await by.put('/api/v1/vault/services/billing/secrets', value), 200);
  const { agent } = await agentsAndKeysOf(one.rest, { owner, member });
  const { sealer } = one.host.needsOf('identity');
  for (let nth = 0; nth < SUBJECTS; nth += 1) {
    const place = { subject: `user:many-${nth}`, streamId: 'user-x', field: 'email' };
    await sealer.seal(owner.tenantId, place, 'somebody@example.com');
  }
  traffic = startTraffic(users, owner, await users.logIn(member), agent.key);
}, TEST_MS_MAX);
afterAll(async () => {
  await traffic?.stop();
  for (const each of replicas) await each.stop();
  await sql?.end();
  rmSync(folder, { recursive: true, force: true });
});

async function change(from: Letter, to: Letter): Promise<void> {
  await roll(secrets(from, to));
  expect(Object.keys(await keysInUse())).toEqual([idOf(from)]);
  await roll(secrets(to, from));
  const both = async () => Object.keys(await keysInUse()).length === 2;
  await untilTrue(both, { what: 'new keys rest on the new one' });
  await rewrapped(from, to);
  expect(Object.keys(await keysInUse())).toEqual([idOf(to)]);
  await roll(secrets(to));
}

/** Runs the command, which is killed after its first batch, and then runs it again. */
async function rewrapped(from: Letter, to: Letter): Promise<void> {
  const env = secrets(to, from);
  const before = (await keysInUse())[idOf(from)] ?? 0;
  const killed = await cardea('keys rewrap', { ...env, CARDEA_FAILPOINT: 'rewrap.mid=kill@1' });
  expect(killed.code).toBe('SIGKILL');
  const left = (await keysInUse())[idOf(from)] ?? 0;
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThan(before);
  expect(await cardea('keys rewrap', env)).toMatchObject({ code: 0, said: { ok: true } });
  expect(await cardea('keys rewrap', env)).toMatchObject({ code: 0, said: { signing_keys: 0 } });
  const { said, output } = await cardea('keys status', env);
  const active = ['EdDSA', 'RS256', 'ES256'].map((alg) => ({ alg, state: 'active' }));
  expect(said).toMatchObject({ keys: active.map((key) => ({ ...key, sealed_under: 'current' })) });
  expect(said['wrapped']).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ table: 'identity.subject_keys', kek_id: idOf(to), key: 'current' }),
      expect.objectContaining({ table: 'vault.tenant_keys', kek_id: idOf(to), key: 'current' }),
    ]),
  );
  for (const text of Object.values(env)) expect(output).not.toContain(text);
}

describe('the secrets of a deployment', () => {
  it('identity 18, oauth 13 are changed, in the long form twice, while both replicas serve, and no vend fails', {
    timeout: TEST_MS_MAX,
  }, async () => {
    if (testForm.long) {
      await change('A', 'B');
      await change('B', 'C');
    } else await change('A', 'C');
    const done = traffic?.done() ?? 0;
    await untilTrue(() => (traffic?.done() ?? 0) > done, { what: 'requests go on' });
    await traffic?.stop();
    expect(traffic?.failures).toEqual([]);
    expect(done).toBeGreaterThan(100);
  });

  it('are refused where they open nothing, and nothing is written', {
    timeout: TEST_MS_MAX,
  }, async () => {
    const before = await keysInUse();
    for (const env of [secrets('A'), secrets('B'), secrets('A', 'B')]) {
      const refused = await replica(env).then(
        async (fixture) => fixture.stop(),
        (error: unknown) => error,
      );
      expect(refused).toBeInstanceOf(UnknownWrapKey);
      const { message } = refused as Error;
      expect(message).toContain(idOf('C'));
      expect(message).toContain(idOf(env['ENCRYPTION_KEY'] === KEYS.A ? 'A' : 'B'));
      for (const text of Object.values(env)) expect(message).not.toContain(text);
    }
    const rewrap = await cardea('keys rewrap', secrets('B', 'A'));
    expect(rewrap).toMatchObject({ code: 78, said: { ok: false } });
    expect(rewrap.output).toContain(idOf('C'));
    const status = await cardea('keys status', secrets('A'));
    expect(status.said['wrapped']).toEqual(
      expect.arrayContaining([expect.objectContaining({ kek_id: idOf('C'), key: 'unknown' })]),
    );
    expect(await keysInUse()).toEqual(before);
  });
});
