/** The guarantees of an Idempotency-Key at two replicas, with a clock that is advanced by days. */
import { randomBytes } from 'node:crypto';
import { armFailPoints, parseFailPoints } from '@cardea/runtime';
import { type RestAnswer, testDatabase } from '@cardea/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type Account,
  type IdentityFixture,
  identityFixture,
  PASSWORD,
} from './identity-fixture.ts';

const DAY_MS = 24 * 3_600_000;
const ROUNDS = 20;
const AT_ONCE = 50;
const API_KEYS = '/api/v1/api-keys';
const AGENTS = '/api/v1/agents';

const database = testDatabase();
let both: readonly [IdentityFixture, IdentityFixture];
let admin: Account;
/** A token of the administrator, signed in at the current time of the clock. */
let access: string;

beforeAll(async () => {
  const env = {
    JWT_SECRET: randomBytes(32).toString('hex'),
    ENCRYPTION_KEY: randomBytes(32).toString('hex'),
    RATE_LIMIT_FACTOR: '100000',
    TRUSTED_PROXIES: '127.0.0.1/32',
    HASH_CONCURRENCY: '4',
    JWT_EXPIRY: '24h',
  };
  both = [await identityFixture(database.url, env), await identityFixture(database.url, env)];
  admin = await both[0].signUp();
  access = admin.access;
});
afterAll(async () => {
  for (const fixture of both ?? []) await fixture.stop();
});
afterEach(() => armFailPoints([]));

async function move(ms: number) {
  for (const fixture of both) fixture.clock.move(ms);
  access = (await both[0].logIn(admin)).body.access_token;
}

const at = (replica: number) =>
  (both[replica % 2] as IdentityFixture).as({ access, tenantId: admin.tenantId });
const withKey = (key: string, ip = '192.0.2.1') => ({
  headers: { 'idempotency-key': key, 'x-forwarded-for': ip },
});
const told = ({ status, code }: RestAnswer) => `${status} ${code}`;
const idIn = ({ status, body }: RestAnswer): string =>
  status === 201 ? body.id : body.error.details.id;

describe('an Idempotency-Key of an administrator', () => {
  it('R11 makes one key of fifty requests at two replicas at once, and another one each day', async () => {
    const made = new Set<string>();
    for (let round = 1; round <= ROUNDS; round += 1) {
      const answers = await Promise.all(
        Array.from({ length: AT_ONCE }, (_, number) =>
          at(number).post(API_KEYS, { name: 'daily', scopes: ['fga:read'] }, withKey('daily')),
        ),
      );
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses).toEqual([201, ...Array(AT_ONCE - 1).fill(409)]);
      const ids = new Set(answers.map(idIn));
      expect(ids.size).toBe(1);
      for (const id of ids) made.add(id);
      expect(made.size).toBe(round);
      await move(DAY_MS);
    }
    const { body } = await at(0).get(API_KEYS, { query: { limit: 1_000 } });
    const daily = body.api_keys.filter(({ name }: { name: string }) => name === 'daily');
    expect(daily).toHaveLength(ROUNDS);
  });

  it('answers with the resource as it stands for a day, and then makes a new one of whatever is sent', async () => {
    const post = (name: string) => at(0).post(AGENTS, { name }, withKey('an agent'));
    const first = await post('first');
    await at(1).patch(`${AGENTS}/${first.body.id}`, { description: 'changed' });
    await move(DAY_MS - 60_000);
    const again = await post('first');
    expect([again.status, again.body.id, again.body.description]).toEqual([
      201,
      first.body.id,
      'changed',
    ]);
    expect(told(await post('second'))).toBe('422 idempotency_key_reused');
    await move(60_000);
    const second = await post('second');
    expect(second.status).toBe(201);
    expect(second.body.id).not.toBe(first.body.id);
    expect((await post('second')).body).toEqual(second.body);
    expect(told(await post('first'))).toBe('422 idempotency_key_reused');
  });

  it('lapses for accounts, sessions of agents, their keys and delegations too', async () => {
    const { body: agent } = await at(0).post(AGENTS, {
      name: 'lapsing',
      services: [{ service_name: 'warehouse', fields: ['a'] }],
    });
    const keys = `${AGENTS}/${agent.id}/keys`;
    const { key: bearer } = (await at(0).post(keys, { name: 'own', expires_in_days: 365 })).body;
    const start = (purpose: string) =>
      both[0].rest.post(
        '/api/v1/agent/sessions',
        { services: [{ service_name: 'warehouse', fields: ['a'] }], purpose },
        { bearer, tenant: admin.tenantId, ...withKey('lapses') },
      );
    const makers: readonly ((name: string) => Promise<RestAnswer>)[] = [
      (name) =>
        at(0).post('/api/v1/admin/users', { email: `${name}@example.com` }, withKey('lapses')),
      (name) => at(0).post(keys, { name }, withKey('lapses')),
      start,
      (name) =>
        at(0).post(
          '/api/v1/me/delegations',
          { agent_id: agent.id, services: [{ service_name: 'warehouse', fields: [name] }] },
          withKey('lapses'),
        ),
    ];
    for (const make of makers) {
      expect(told(await make('one'))).toBe('201 undefined');
      expect(told(await make('two'))).toBe('422 idempotency_key_reused');
    }
    await move(DAY_MS);
    for (const make of makers) expect(told(await make('two'))).toBe('201 undefined');
  });

  it('goes on under the same id where the request died between the key’s use and the resource', async () => {
    const body = { name: 'half', scopes: ['fga:read'] };
    const post = (replica: number) => at(replica).post(API_KEYS, body, withKey('half way'));
    const before = await both[0].head();
    armFailPoints(parseFailPoints('idempotency.after_use=throw@1') ?? []);
    expect((await post(0)).status).toBe(500);
    const types = (await both[0].eventsSince(before)).map(({ type }) => type);
    expect(types).toContain('IdempotencyKeyUsed');
    expect(types).not.toContain('ApiKeyIssued');
    const made = await post(1);
    expect(made.status).toBe(201);
    expect(idIn(await post(0))).toBe(made.body.id);
    const uses = (await both[0].eventsSince(before)).filter(
      ({ type }) => type === 'IdempotencyKeyUsed',
    );
    expect(uses).toHaveLength(1);
  });

  it('costs a request without it nothing, and the first use of it one event', async () => {
    const countOf = async (work: () => Promise<RestAnswer>) => {
      const before = await both[0].head();
      expect((await work()).status).toBe(201);
      const events = await both[0].eventsSince(before);
      return events.filter(({ streamId }) => streamId.startsWith('idempotency-')).length;
    };
    const body = { name: 'plain', scopes: ['fga:read'] };
    expect(await countOf(() => at(0).post(API_KEYS, body))).toBe(0);
    expect(await countOf(() => at(0).post(API_KEYS, body, withKey('counted')))).toBe(1);
  });
});

describe('an Idempotency-Key without a credential', () => {
  const register = (email: string, key: string, ip?: string) =>
    both[0].rest.post(
      '/api/v1/auth/register',
      { email, password: PASSWORD },
      { tenant: admin.tenantId, ...withKey(key, ip) },
    );
  const signUp = (email: string, key: string, ip?: string) =>
    both[1].rest.post(
      '/api/v1/auth/signup',
      { email, password: PASSWORD, company_name: 'Acme' },
      withKey(key, ip),
    );

  it.each([
    { what: 'registration', post: register },
    { what: 'sign-up', post: signUp },
  ])('of another client does nothing to a $what', async ({ what, post }) => {
    const key = `the same for everyone, ${what}`;
    const first = await post(`first.${what}@example.com`, key, '198.51.100.1');
    expect(first.body.access_token).toBeDefined();
    // One request comes from elsewhere, the other from the same network with another body.
    const second = await post(`second.${what}@example.com`, key, '203.0.113.1');
    const third = await post(`third.${what}@example.com`, key, '198.51.100.1');
    for (const answer of [second, third]) {
      expect(answer.status).toBe(201);
      expect(answer.body.access_token).toBeDefined();
    }
    // The same request from elsewhere learns no more than any request about a taken address.
    const stolen = await post(`first.${what}@example.com`, key, '203.0.113.1');
    expect([stolen.status, stolen.body.user_id]).toEqual([201, '']);
    const again = await post(`first.${what}@example.com`, key, '198.51.100.77');
    expect(told(again)).toBe('409 already_created');
    expect(again.body.error.details).toEqual({ id: first.body.user_id });
  });

  it('R11 makes one account of fifty requests at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, () => register('once@example.com', 'once')),
    );
    const ids = answers.map(({ body }) => body.user_id ?? body.error.details.id);
    expect(new Set(ids).size).toBe(1);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 409]));
  });

  it('is stored only once the limits of its address are passed', async () => {
    const before = await both[0].head();
    const refused = await both[0].rest.post(
      '/api/v1/auth/register',
      { email: 'short@example.com', password: 'short' },
      { tenant: admin.tenantId, ...withKey('refused') },
    );
    expect(refused.code).toBe('password_too_short');
    expect(await both[0].head()).toBe(before);
  });
});
