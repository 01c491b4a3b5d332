/** Artifacts of the authorization server that their holder changed or that another party invented are refused. */
import { generateSigningKey, signer } from '@cardea/auth';
import { beforeAll, describe, expect, it } from 'vitest';
import { claimsOf } from './identity-fixture.ts';
import {
  application,
  authorized,
  browser,
  oauthCalls,
  oauthOfFile,
  type TestClient,
  token,
} from './oauth-fixture.ts';

const { fixture, admin } = oauthOfFile();
let own: TestClient;
beforeAll(async () => {
  own = await application(fixture, admin, {
    ...{ first_party: true, scopes: ['openid', 'profile', 'email', 'roles', 'account'] },
  });
});

const { introspect, refresh, authorize } = oauthCalls(() => fixture);
const SCOPE = { scope: 'openid profile roles account' };
const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const headerOf = (text: string) =>
  JSON.parse(Buffer.from(text.split('.')[0] ?? '', 'base64url').toString());

/** Variants of a genuine token that were not signed in this form. */
function forgeries(text: string): { readonly [how: string]: string } {
  const [header = '', payload = '', signature = ''] = text.split('.');
  const claims = claimsOf(text);
  const stranger = signer({ active: () => generateSigningKey() });
  const changed = (more: object) => `${header}.${encoded({ ...claims, ...more })}.${signature}`;
  const headed = (more: object) =>
    `${encoded({ ...headerOf(text), ...more })}.${payload}.${signature}`;
  return {
    'wider scope': changed({ scope: 'openid profile email roles account' }),
    'another client': changed({ client_id: 'another' }),
    'no client': changed({ client_id: undefined }),
    'another user': changed({ sub: 'another' }),
    'another tenant': changed({ tid: 'another', tenant_id: 'another' }),
    'another audience': changed({ aud: `${fixture.issuer}/vault` }),
    'more roles': changed({ roles: ['system_admin'] }),
    'a later end': changed({ exp: claims.exp + 3_600 }),
    'another key': stranger('at+jwt', claims),
    'another key, same name': stranger('at+jwt', claims).replace(/^[^.]+/, header),
    'no signature': `${encoded({ ...headerOf(text), alg: 'none' })}.${payload}.`,
    HS256: headed({ alg: 'HS256' }),
    'another type': headed({ typ: 'JWT' }),
    'its own key': headed({ jwk: { kty: 'OKP', crv: 'Ed25519', x: 'x' } }),
    'a critical header': headed({ crit: ['exp'], exp: 1 }),
    cut: text.slice(0, -1),
    doubled: `${text}.${text}`,
  };
}

describe('S17 a forged token', () => {
  it('oauth 11 of an application is nobody, at the API, at userinfo and at introspection', async () => {
    const done = await authorized(fixture, { client: own, account: admin, more: SCOPE });
    const { tenantId: tenant } = admin;
    const genuine = await fixture.rest.get('/api/v1/auth/me', {
      bearer: done.access_token,
      tenant,
    });
    expect(genuine.status).toBe(200);
    for (const [how, bearer] of Object.entries(forgeries(done.access_token))) {
      const [me, info] = await Promise.all([
        fixture.rest.get('/api/v1/auth/me', { bearer, tenant }),
        fixture.rest.get('/oauth2/userinfo', { bearer }),
      ]);
      expect([how, me.status, info.status]).toEqual([how, 401, 401]);
      expect([how, await introspect(bearer)]).toEqual([how, { active: false }]);
    }
  });

  it('oauth 11 of a client that speaks for itself is worth nothing, and the genuine one is no user', async () => {
    const machine = await application(fixture, admin, {
      ...{ type: 'm2m', redirect_uris: [], scopes: ['openid', 'profile'] },
    });
    const { client_id, client_secret = '' } = machine;
    const form = { grant_type: 'client_credentials', client_id, client_secret };
    const { access_token } = (await token(fixture, form)).body;
    expect((await introspect(access_token)).active).toBe(true);
    const { tenantId: tenant } = admin;
    const asUser = { sub: admin.userId };
    const [header = '', , signature = ''] = access_token.split('.');
    const turned = `${header}.${encoded({ ...claimsOf(access_token), ...asUser })}.${signature}`;
    for (const bearer of [access_token, turned, ...Object.values(forgeries(access_token))]) {
      const { status } = await fixture.rest.get('/api/v1/auth/me', { bearer, tenant });
      expect(status).toBe(bearer === access_token ? 403 : 401);
      if (bearer !== access_token) expect(await introspect(bearer)).toEqual({ active: false });
    }
  });

  it('oauth 11 and an id_token open nothing, however genuine that is', async () => {
    const done = await authorized(fixture, { client: own, account: admin, more: SCOPE });
    const { tenantId: tenant } = admin;
    for (const bearer of [done.id_token, ...Object.values(forgeries(done.id_token))]) {
      expect((await fixture.rest.get('/api/v1/auth/me', { bearer, tenant })).status).toBe(401);
      expect((await fixture.rest.get('/oauth2/userinfo', { bearer })).status).toBe(401);
      expect(await introspect(bearer)).toEqual({ active: false });
    }
  });

  it('oauth 11 to refresh with is refused, and the genuine one stays good', async () => {
    const first = await authorized(fixture, { client: own, account: admin, more: SCOPE });
    const second = await authorized(fixture, { client: own, account: admin, more: SCOPE });
    const text: string = first.refresh_token;
    const [, sid = '', seq = '', mac = ''] = /^rt_([^.]+)\.(\d+)\.(.+)$/.exec(text) ?? [];
    const [, otherSid = ''] = /^rt_([^.]+)/.exec(second.refresh_token) ?? [];
    const other = mac.startsWith('A') ? 'B' : 'A';
    const forms = [
      `rt_${sid}.${Number(seq) + 1}.${mac}`,
      `rt_${otherSid}.${seq}.${mac}`,
      `rt_${sid}.${seq}.${other}${mac.slice(1)}`,
      `rt_${sid}.${seq}.`,
      `${text}x`,
      text.slice(0, -1),
    ];
    for (const forged of forms) {
      expect((await refresh(own, forged)).body.error).toBe('invalid_grant');
      expect(await introspect(forged)).toEqual({ active: false });
    }
    expect((await refresh(own, text)).status).toBe(200);
  });

  it('oauth 11 of a browser is no sign-in', async () => {
    const page = browser(fixture);
    await authorized(fixture, { client: own, account: admin, page, more: SCOPE });
    const silent = () => page.get(authorize(own, { prompt: 'none' }));
    expect((await silent()).location).toContain('code=');
    const [name, path] = ['cardea_session', '/'];
    const cookie = page.jar.get(`${name} ${path}`);
    const value = cookie?.value ?? '';
    expect(value.length).toBeGreaterThan(20);
    const changed = `${value.slice(0, -1)}${value.endsWith('x') ? 'y' : 'x'}`;
    page.jar.set(`${name} ${path}`, { name, value: changed, path });
    expect((await silent()).location).toContain('error=login_required');
  });
});
