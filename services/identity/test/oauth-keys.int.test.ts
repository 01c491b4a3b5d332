/** How resource servers that use `jose` handle a change of keys. */
import { testDatabase, untilTrue } from '@cardea/testing';
import { createRemoteJWKSet, customFetch, type JWTPayload, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyField } from '../src/streams/encrypted-fields.ts';
import type { Account } from './identity-fixture.ts';
import {
  application,
  authorized,
  type Browser,
  browser,
  fetchOf,
  type OAuthFixture,
  oauthCalls,
  oauthFixture,
} from './oauth-fixture.ts';

const ADMIN = { email: 'root@example.com', password: 'a password of the first one' };
const IDLE_MS = 2 * 3_600_000;
const KEYS = '/api/v1/admin/keys';
const database = testDatabase();
let fixture: OAuthFixture;
let root: Account;
beforeAll(async () => {
  fixture = await oauthFixture(database.url, {
    ADMIN_EMAIL: ADMIN.email,
    ADMIN_PASSWORD: ADMIN.password,
  });
  const { rows } = await fixture.shared.database.system.query<{ tenant_id: string; id: string }>(
    'SELECT tenant_id, id FROM identity.users LIMIT 1',
  );
  const [{ tenant_id: tenantId, id: userId } = { tenant_id: '', id: '' }] = rows;
  const { body } = await fixture.rest.post('/api/v1/auth/login', ADMIN, { tenant: tenantId });
  const { access_token: access, refresh_token: refresh } = body;
  root = { tenantId, userId, email: ADMIN.email, access, refresh };
});
afterAll(async () => {
  await fixture?.stop();
});

const signedIn = async (): Promise<Account> => {
  const { body } = await fixture.rest.post('/api/v1/auth/login', ADMIN, { tenant: root.tenantId });
  return { ...root, access: body.access_token, refresh: body.refresh_token };
};

/** A token of each class that other services receive. */
async function tokensNow(): Promise<{ readonly [name: string]: string }> {
  const account = await signedIn();
  const rest = fixture.as(account);
  const login = account.access;
  const refreshed = (await fixture.refresh(account.refresh)).body.access_token;
  const client = await application(fixture, account);
  const page = await authorized(fixture, {
    client,
    account: { ...account, email: ADMIN.email },
    password: ADMIN.password,
  });
  const services = [{ service_name: 'billing', fields: ['*'] }];
  const agent = await rest.post('/api/v1/agents', { name: `agent ${Math.random()}`, services });
  const key = await rest.post(`/api/v1/agents/${agent.body.id}/keys`, { name: 'one' });
  const session = await fixture.rest.post(
    '/api/v1/agent/sessions',
    { services: [{ service_name: 'billing', fields: ['api_key'] }] },
    { bearer: key.body.key, tenant: root.tenantId },
  );
  return { login, refreshed, oauth: page.access_token, agent: session.body.data.agent_token };
}

describe('a resource server with jose', () => {
  it('oauth 2 verifies tokens before, during and after a rotation, and none of a removed key', async () => {
    const jwks = createRemoteJWKSet(new URL(`${fixture.issuer}/.well-known/jwks.json`), {
      [customFetch]: fetchOf(fixture) as typeof fetch,
      // An unknown key is fetched at once.
      cooldownDuration: 0,
    });
    const verify = async (token: string): Promise<JWTPayload> =>
      (
        await jwtVerify(token, jwks, {
          issuer: fixture.issuer,
          audience: `${fixture.issuer}/api`,
          typ: 'at+jwt',
          algorithms: ['EdDSA'],
        })
      ).payload;
    const verifyAll = async (tokens: { readonly [name: string]: string }) => {
      for (const [name, text] of Object.entries(tokens)) {
        expect([name, (await verify(text))['tid']]).toEqual([name, root.tenantId]);
      }
    };
    const before = await tokensNow();
    await verifyAll(before);
    const rotated = await fixture.as(await signedIn()).post(`${KEYS}/rotate`);
    expect(rotated.status).toBe(200);
    await verifyAll(before);
    const after = await tokensNow();
    await verifyAll(after);
    await verifyAll(before);
    const revoked = await fixture.as(await signedIn()).post(`${KEYS}/rotate`, { revoke: true });
    expect(revoked.status).toBe(200);
    await verifyAll(await tokensNow());
    for (const text of [...Object.values(before), ...Object.values(after)]) {
      await expect(verify(text)).rejects.toThrow();
    }
  });

  it('oauth 14 takes an id_token_hint of before a rotation, and none of a removed key', async () => {
    const account = await signedIn();
    const client = await application(fixture, account);
    const of = { client, account, password: ADMIN.password };
    const { page, id_token } = await authorized(fixture, of);
    const silent = async (hint: string) =>
      (
        await page.get(
          oauthCalls(() => fixture).authorize(client, { prompt: 'none', id_token_hint: hint }),
        )
      ).location;
    expect(await silent(id_token)).toContain('code=');
    const rotate = (body: object) =>
      signedIn().then((by) => fixture.as(by).post(`${KEYS}/rotate`, body));
    expect((await rotate({})).status).toBe(200);
    expect(await silent(id_token)).toContain('code=');
    expect((await rotate({ revoke: true })).status).toBe(200);
    expect(await silent(id_token)).toContain('error=invalid_request');
  });

  it.each(['RS256', 'ES256', 'EdDSA'])(
    'oauth 29 35 a hint by %s of before a rotation signs out at once, and one of a removed key asks',
    async (alg) => {
      const client = await application(fixture, await signedIn(), {
        first_party: true,
        id_token_signed_response_alg: alg,
      });
      const flow = async (page: Browser) =>
        (await authorized(fixture, { client, account: root, password: ADMIN.password, page }))
          .id_token;
      const pages = [browser(fixture), browser(fixture)] as const;
      const hints = [await flow(pages[0]), await flow(pages[1])] as const;
      const rotate = async (body: object) =>
        (await fixture.as(await signedIn()).post(`${KEYS}/rotate`, body)).status;
      const end = async (page: Browser, id_token_hint: string) =>
        (await page.get(`/oauth2/session/end?${new URLSearchParams({ id_token_hint })}`)).text;
      expect(await rotate({})).toBe(200);
      // The token has expired as well, but the sign-in has not ended.
      fixture.clock.move(IDLE_MS);
      expect(await end(pages[0], hints[0])).toContain('You are signed out');
      fixture.clock.move(-IDLE_MS);
      expect(await rotate({ revoke: true })).toBe(200);
      expect(await end(pages[1], hints[1])).toContain('Sign out?');
    },
  );

  it('oauth 14 leaves nothing of a removed key that both secrets could open', async () => {
    const { store, sealer } = fixture.host.needsOf('identity');
    const added = (await store.readStream('keyring-main')).filter(
      ({ type }) => type === 'KeyAdded',
    );
    const kids = (await fixture.rest.get('/.well-known/jwks.json')).body.keys.map(
      ({ kid }: { kid: string }) => kid,
    );
    const open = async ({ data }: (typeof added)[number]) => {
      const { kid, private: sealed } = data as { kid: string; private: never };
      return { isRemoved: !kids.includes(kid), half: await sealer.open(sealed, keyField(kid)) };
    };
    const opened = await untilTrue(
      async () => {
        const all = await Promise.all(added.map(open));
        return all.every(({ isRemoved, half }) => !isRemoved || half === null) ? all : undefined;
      },
      { what: 'removed keys to be erased' },
    );
    expect(opened.filter(({ isRemoved }) => isRemoved).length).toBeGreaterThan(0);
    for (const { isRemoved, half } of opened) expect(half === null).toBe(isRemoved);
  });
});
