/** Two replicas with one cache, which is lost at the end. */
import { createConnection } from 'node:net';
import { needRedis, type RedisServer, startRedis, testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Account } from './identity-fixture.ts';
import {
  application,
  authorized,
  authorizeUrl,
  browser,
  type OAuthFixture,
  oauthCalls,
  oauthFixture,
  pkce,
  REDIRECT,
  signIn,
  type TestClient,
  token,
} from './oauth-fixture.ts';

needRedis();
const database = testDatabase();
let redis: RedisServer;
let one: OAuthFixture;
let other: OAuthFixture;
let admin: Account;
let bob: Account;
let spa: TestClient;
beforeAll(async () => {
  redis = await startRedis();
  const env = {
    REDIS_URL: redis.url,
    JWT_SECRET: 'a secret of both replicas, long enough',
    ENCRYPTION_KEY: 'c0ffee00'.repeat(8),
    RATE_LIMIT_FACTOR: '100000',
  };
  // Both start with an empty store.
  [one, other] = await Promise.all([
    oauthFixture(database.url, env),
    oauthFixture(database.url, env),
  ]);
  admin = await one.signUp();
  bob = await one.register(admin.tenantId);
  spa = await application(one, admin);
}, 120_000);
afterAll(async () => {
  await Promise.all([one?.stop(), other?.stop()]);
  await redis?.kill();
});

const INACTIVE = { active: false };
const REACH = [{ service_name: 'warehouse', fields: ['password'] }];
const { refresh } = oauthCalls(() => one);
const askedAt = async (fixture: OAuthFixture, text: string) =>
  (await fixture.rest.post('/oauth2/introspect', { token: text })).body;
const withCode = async () => {
  const { verifier, challenge } = pkce();
  const url = authorizeUrl(spa, { code_challenge: challenge });
  const back = await signIn(browser(one), url, { account: bob });
  return {
    ...{ grant_type: 'authorization_code', client_id: spa.client_id, redirect_uri: REDIRECT },
    ...{ code: back.searchParams.get('code'), code_verifier: verifier },
  };
};

describe('two replicas', () => {
  it('oauth 12 that start on an empty store publish one and the same key', async () => {
    const keysOf = async ({ rest }: OAuthFixture) =>
      (await rest.get('/.well-known/jwks.json')).body.keys;
    const keys = await keysOf(one);
    expect(keys).toHaveLength(1);
    expect(await keysOf(other)).toEqual(keys);
  });

  it('oauth 3 redeem a code once under 100 exchanges at once', async () => {
    const form = await withCode();
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) => token(n % 2 === 0 ? one : other, form)),
    );
    const tally: { [answer: string]: number } = {};
    for (const { status, body } of answers) {
      const name = `${status} ${body.error ?? 'tokens'}`;
      tally[name] = (tally[name] ?? 0) + 1;
    }
    expect(tally).toEqual({ '200 tokens': 1, '400 invalid_grant': 99 });
  });

  it('oauth 8 know at once of what the other one ended', async () => {
    const ends: readonly (readonly [string, () => Promise<unknown>])[] = [
      [
        'consent',
        async () => {
          const rest = one.as(bob);
          const { consents } = (await rest.get('/api/v1/auth/consents')).body;
          await rest.delete(`/api/v1/auth/consents/${consents[0].id}`);
        },
      ],
      ['sessions', () => one.as(bob).delete('/api/v1/me/sessions')],
    ];
    for (const [what, end] of ends) {
      const { access_token, refresh_token } = await authorized(one, { client: spa, account: bob });
      expect((await askedAt(other, access_token)).active).toBe(true);
      await end();
      for (const cache of ['as it is', 'emptied']) {
        if (cache === 'emptied') await tell(redis, ['FLUSHALL']);
        for (const text of [access_token, refresh_token]) {
          expect([what, cache, await askedAt(other, text)]).toEqual([what, cache, INACTIVE]);
        }
      }
    }
  });

  it('oauth 8 know at once of keys and agents that the other one ended', async () => {
    const as = one.as(admin);
    const key = await as.post('/api/v1/api-keys', { name: 'ci', scopes: ['fga:read'] });
    const agent = await as.post('/api/v1/agents', { name: 'bot', services: REACH });
    const { id } = agent.body;
    const agentKey = await as.post(`/api/v1/agents/${id}/keys`, { name: 'ci' });
    const session = await one.rest.post(
      '/api/v1/agent/sessions',
      { services: REACH },
      { bearer: agentKey.body.key, tenant: admin.tenantId },
    );
    const { agent_token, capability_token } = session.body.data;
    const ends: readonly (readonly [string, readonly string[], () => Promise<unknown>])[] = [
      ['key', [key.body.key], () => as.delete(`/api/v1/api-keys/${key.body.id}`)],
      [
        'agent',
        [agentKey.body.key, agent_token, capability_token],
        () => as.patch(`/api/v1/agents/${id}`, { status: 'suspended' }),
      ],
    ];
    for (const [what, texts, end] of ends) {
      for (const text of texts) expect((await askedAt(other, text)).active).toBe(true);
      await end();
      for (const cache of ['as it is', 'emptied']) {
        if (cache === 'emptied') await tell(redis, ['FLUSHALL']);
        for (const text of texts) {
          expect([what, cache, await askedAt(other, text)]).toEqual([what, cache, INACTIVE]);
        }
      }
    }
  });

  it('oauth 21 leave no code, cookie or token in clear in their cache', async () => {
    const page = browser(one);
    const form = await withCode();
    const done = await authorized(one, { client: spa, account: bob, page });
    const dump = await contentsOf(redis);
    expect(dump).toContain('op:');
    const cookies = [...page.jar.values()].map(({ value }) => value);
    for (const secret of [
      ...[form.code, done.access_token, done.refresh_token, done.id_token, done.exchange.code],
      ...cookies,
    ]) {
      expect(String(secret).length).toBeGreaterThan(8);
      expect(dump).not.toContain(String(secret));
    }
  });

  it('oauth 23 go on without their cache, but for what stands in it', async () => {
    const machine = await application(one, admin, { type: 'm2m', redirect_uris: [] });
    const { access_token, refresh_token } = await authorized(one, { client: spa, account: bob });
    await redis.kill();
    const away = await untilTrue(
      async () => {
        const asked = await browser(one).get(
          authorizeUrl(spa, { code_challenge: pkce().challenge }),
          { accept: 'application/json' },
        );
        return asked.status === 503 ? asked : undefined;
      },
      { what: 'the cache to be away' },
    );
    expect(away.body.error).toBe('temporarily_unavailable');
    const next = await refresh(spa, refresh_token);
    expect(next.status).toBe(200);
    expect((await askedAt(other, access_token)).active).toBe(true);
    expect((await one.rest.get('/.well-known/jwks.json')).status).toBe(200);
    const { client_id, client_secret = '' } = machine;
    const form = { grant_type: 'client_credentials', client_id, client_secret };
    expect((await token(one, form)).status).toBe(200);
    expect(
      (await one.rest.get('/oauth2/userinfo', { bearer: next.body.access_token })).status,
    ).toBe(200);
    const code = await token(one, {
      ...{ grant_type: 'authorization_code', client_id: spa.client_id, redirect_uri: REDIRECT },
      ...{ code: 'some', code_verifier: 'x'.repeat(43) },
    });
    expect([code.status, code.body.error]).toEqual([503, 'temporarily_unavailable']);
  });
});

/** Every key with its value. */
const contentsOf = (server: RedisServer): Promise<string> =>
  tell(server, [
    'EVAL',
    "local all = '' for _, k in ipairs(redis.call('KEYS', '*')) do local v = redis.pcall('GET', k) " +
      "all = all .. k .. ' ' .. (type(v) == 'string' and v or '') .. '\\n' end return all",
    '0',
  ]);

/** Sends a command in Redis' protocol and returns everything received until the connection closes. */
function tell({ port }: RedisServer, command: readonly string[]): Promise<string> {
  const written = [command, ['QUIT']].map(
    (words) =>
      `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`,
  );
  return new Promise((resolve, reject) => {
    const socket = createConnection(port, '127.0.0.1');
    let text = '';
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
    socket.write(written.join(''));
  });
}
