/** The signing keys over HTTP, at two replicas with a shared cache. */
import { CacheUnavailable } from '@cardea/runtime';
import { needRedis, type RedisServer, startRedis, testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type IdentityFixture, identityFixture } from './identity-fixture.ts';

const ADMIN = { email: 'root@example.com', password: 'a password of the first one' };
const STEP_UP_MS = 600_000;
const KEYS = '/api/v1/admin/keys';

needRedis();
const database = testDatabase();
let redis: RedisServer;
let one: IdentityFixture;
let other: IdentityFixture;
let tenant = '';
const rest = (fixture: IdentityFixture, bearer: string) => fixture.rest.as({ bearer, tenant });

async function signedIn(fixture: IdentityFixture): Promise<{ access: string; refresh: string }> {
  const { body } = await fixture.rest.post('/api/v1/auth/login', ADMIN, { tenant });
  return { access: body.access_token, refresh: body.refresh_token };
}
const kidOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid;
const states = async (fixture: IdentityFixture, bearer: string) =>
  (await rest(fixture, bearer).get(KEYS)).body.keys
    .filter(({ alg }: { alg: string }) => alg === 'EdDSA')
    .map(({ state }: { state: string }) => state);
const jwks = async (fixture: IdentityFixture): Promise<string[]> =>
  (await fixture.rest.get('/.well-known/jwks.json')).body.keys.map(
    ({ kid }: { kid: string }) => kid,
  );

beforeAll(async () => {
  redis = await startRedis();
  const env = {
    REDIS_URL: redis.url,
    JWT_SECRET: 'a secret of both replicas, long enough',
    ENCRYPTION_KEY: 'c0ffee00'.repeat(8),
    ADMIN_EMAIL: ADMIN.email,
    ADMIN_PASSWORD: ADMIN.password,
  };
  one = await identityFixture(database.url, env);
  other = await identityFixture(database.url, env);
  const { rows } = await one.shared.database.system.query<{ tenant_id: string }>(
    'SELECT tenant_id FROM identity.users LIMIT 1',
  );
  tenant = rows[0]?.tenant_id ?? '';
}, 120_000);
afterAll(async () => {
  await one?.stop();
  await other?.stop();
  await redis?.kill();
});

describe('the signing keys', () => {
  it('are shown to a system administrator, and to nobody else', async () => {
    const { access } = await signedIn(one);
    const { body } = await rest(other, access).get(KEYS);
    const sinceStart = {
      state: 'active',
      created_at: expect.any(String),
      activated_at: expect.any(String),
      retired_at: null,
    };
    expect(body.keys).toEqual([
      {
        kid: kidOf(access),
        alg: 'EdDSA',
        ...sinceStart,
      },
      { kid: expect.any(String), alg: 'RS256', ...sinceStart },
      { kid: expect.any(String), alg: 'ES256', ...sinceStart },
    ]);
    const stranger = await one.signUp();
    const answer = await other.as(stranger).get(KEYS);
    expect([answer.status, answer.code]).toEqual([403, 'forbidden']);
  });

  it('are replaced for whoever signed in within ten minutes', async () => {
    const { access } = await signedIn(one);
    one.clock.move(STEP_UP_MS);
    const late = await rest(one, access).post(`${KEYS}/rotate`, {});
    one.clock.move(-STEP_UP_MS);
    expect([late.status, late.code]).toEqual([401, 'step_up_required']);
    expect(late.headers.get('www-authenticate')).toContain(
      'Bearer error="insufficient_user_authentication", max_age="600"',
    );
    expect(await states(one, access)).toEqual(['active']);
  });

  it('take turns at once, and both sign what every replica believes', async () => {
    const before = await signedIn(one);
    const { status, body } = await rest(one, before.access).post(`${KEYS}/rotate`);
    expect(status).toBe(200);
    expect(body).toEqual({ kid: expect.any(String), activated_at: expect.any(String) });
    expect(await states(other, before.access)).toEqual(['retired', 'active']);
    const after = await untilTrue(
      async () => {
        const fresh = await signedIn(one);
        return kidOf(fresh.access) === body.kid ? fresh : undefined;
      },
      { what: 'the new key signs' },
    );
    for (const fixture of [one, other]) {
      for (const { access } of [before, after]) {
        expect((await rest(fixture, access).get('/api/v1/auth/me')).status).toBe(200);
      }
      expect(await jwks(fixture)).toEqual([kidOf(before.access), body.kid]);
    }
  });

  it('oauth 13 that were revoked are believed by no replica once it is answered, and refresh tokens go on', async () => {
    for (let round = 0; round < 5; round += 1) {
      const stolen = await signedIn(one);
      const me = (fixture: IdentityFixture, access: string) =>
        rest(fixture, access).get('/api/v1/auth/me');
      expect((await me(other, stolen.access)).status).toBe(200);
      const { status, body } = await rest(one, stolen.access).post(`${KEYS}/rotate`, {
        revoke: true,
      });
      expect(status).toBe(200);
      expect((await me(other, stolen.access)).status).toBe(401);
      expect((await me(one, stolen.access)).status).toBe(401);
      const refreshed = await other.refresh(stolen.refresh);
      expect([refreshed.status, kidOf(refreshed.body.access_token)]).toEqual([200, body.kid]);
      expect((await me(one, refreshed.body.access_token)).status).toBe(200);
      expect([await jwks(one), await jwks(other)]).toEqual([[body.kid], [body.kid]]);
    }
  });

  it('are told of in the words of whoever ordered it', async () => {
    const { access } = await signedIn(one);
    const { body } = await rest(one, access).post(`${KEYS}/rotate`, { revoke: true });
    const told = async () => {
      const { rows } = await one.shared.database.system.query<{ type: string; actor: string }>(
        `SELECT value ->> 'type' AS type, value #>> '{actor,type}' AS actor
         FROM bus.records WHERE value ->> 'type' LIKE 'signing_key.%' AND value::text LIKE $1`,
        [`%${body.kid}%`],
      );
      return rows.length === 0 ? undefined : rows;
    };
    expect(await untilTrue(told, { what: 'the topic has it' })).toEqual([
      { type: 'signing_key.activated', actor: 'admin' },
    ]);
  });

  it('are revoked but not said to be while the cache cannot tell the others', async () => {
    const { access } = await signedIn(one);
    const { cache } = one.shared;
    const { publish, distrust } = cache;
    const away = async () => {
      throw new CacheUnavailable('away');
    };
    Object.assign(cache, { publish: away, distrust: away });
    const answer = await rest(one, access).post(`${KEYS}/rotate`, { revoke: true });
    Object.assign(cache, { publish, distrust });
    expect([answer.status, answer.code]).toEqual([503, 'temporarily_unavailable']);
    expect(answer.headers.get('retry-after')).not.toBeNull();
  });
});
