import { createHash } from 'node:crypto';
import { untilTrue } from '@cardea/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Account, claimsOf } from './identity-fixture.ts';
import {
  application,
  authorized,
  browser,
  oauthCalls,
  oauthOfFile,
  type TestClient,
} from './oauth-fixture.ts';

const { fixture, admin } = oauthOfFile();
let bob: Account;
let spa: TestClient;
let own: TestClient;
beforeAll(async () => {
  bob = await fixture.register(admin.tenantId);
  spa = await application(fixture, admin);
  own = await application(fixture, admin, { first_party: true, type: 'web' });
});

const { introspect, refresh, authorize } = oauthCalls(() => fixture);

describe('the pages of the authorization server', () => {
  it('oauth 15 asks for what is new alone, gives what was chosen, and skips its own applications', async () => {
    const client = await application(fixture, admin);
    const page = browser(fixture);
    const some = await authorized(fixture, { client, account: bob, page, scopes: ['profile'] });
    expect(some.scope.split(' ').toSorted()).toEqual(['openid', 'profile']);
    const missing = await page.get(authorize(client, { scope: 'openid email' }));
    const shown = await page.get(missing.location, { accept: 'application/json' });
    expect(shown.body).toMatchObject({ prompt: 'consent', client: { host: '127.0.0.1:9' } });
    expect(shown.body.scopes.map(({ name }: { name: string }) => name)).toEqual(['email']);
    const whole = await authorized(fixture, { client, account: bob, page });
    expect(whole.scope.split(' ').toSorted()).toEqual(['email', 'openid', 'profile']);
    const skipped = await page.get(authorize(own));
    expect(skipped.location).toContain('code=');
  });

  it('oauth 15 keeps a refresh token of a withdrawn consent dead after the next grant', async () => {
    const client = await application(fixture, admin);
    const page = browser(fixture);
    const before = await authorized(fixture, { client, account: bob, page });
    const rest = fixture.as(bob);
    const { consents } = (await rest.get('/api/v1/auth/consents')).body;
    const consent = consents.find((each: { client_id: string }) => each.client_id === client.id);
    expect((await rest.delete(`/api/v1/auth/consents/${consent.id}`)).status).toBe(200);
    const after = await authorized(fixture, { client, account: bob, page });
    expect((await refresh(client, before.refresh_token)).body.error).toBe('invalid_grant');
    expect((await introspect(before.access_token)).active).toBe(false);
    expect((await introspect(after.access_token)).active).toBe(true);
    expect((await refresh(client, after.refresh_token)).status).toBe(200);
  });

  it('oauth 16 25 asks again once the sign-in of the browser was ended', async () => {
    const carl = await fixture.register(admin.tenantId, 'carl');
    const ends: readonly ((sid: string) => Promise<unknown>)[] = [
      (sid) => fixture.as(carl).delete(`/api/v1/me/sessions/${sid}`),
      () => fixture.as(admin).post(`/api/v1/admin/users/${carl.userId}/revoke-sessions`),
      () => fixture.as(admin).patch(`/api/v1/admin/users/${carl.userId}`, { status: 'disabled' }),
    ];
    const machine = await application(fixture, admin, { grant_types: ['authorization_code'] });
    for (const end of ends) {
      const page = browser(fixture);
      const { access_token, refresh_token } = await authorized(fixture, {
        client: machine,
        account: carl,
        page,
      });
      expect(refresh_token).toBeUndefined();
      const { sid } = claimsOf(access_token);
      expect((await introspect(access_token)).active).toBe(true);
      expect((await page.get(authorize(machine, { prompt: 'none' }))).location).toContain('code=');
      await end(sid);
      const silent = await page.get(authorize(machine, { prompt: 'none' }));
      expect(silent.location).toContain('error=login_required');
      const asked = await page.get(authorize(machine));
      expect(asked.location).toContain('/oauth2/interaction/');
      expect((await introspect(access_token)).active).toBe(false);
    }
  });

  it('oauth 16 25 asks again after a new password, whoever set it', async () => {
    const fred = await fixture.register(admin.tenantId, 'fred');
    const machine = await application(fixture, admin, { grant_types: ['authorization_code'] });
    const changes: readonly ((from: string, to: string) => Promise<{ status: number }>)[] = [
      (current_password, new_password) =>
        fixture.as(fred).post('/api/v1/user/change-password', { current_password, new_password }),
      async (_from, new_password) => {
        const of = { tenant: fred.tenantId };
        await fixture.rest.post('/api/v1/auth/forgot-password', { email: fred.email }, of);
        const { token } = await fixture.mail(fred.email, /password/i);
        return fixture.rest.post('/api/v1/auth/reset-password', { token, new_password });
      },
    ];
    let password = 'correct horse battery';
    for (const [n, change] of changes.entries()) {
      const page = browser(fixture);
      const of = { client: machine, account: fred, page, password };
      const { access_token } = await authorized(fixture, of);
      expect((await introspect(access_token)).active).toBe(true);
      const next = `another password ${n}`;
      expect((await change(password, next)).status).toBe(200);
      password = next;
      const silent = await page.get(authorize(machine, { prompt: 'none' }));
      expect(silent.location).toContain('error=login_required');
      expect((await introspect(access_token)).active).toBe(false);
    }
  });

  it('shows the sign-in of a browser and the application among the sessions of its user', async () => {
    const dora = await fixture.register(admin.tenantId, 'dora');
    const { access_token } = await authorized(fixture, { client: spa, account: dora });
    const body = await untilTrue(
      async () => {
        const listed = await fixture.as(dora).get('/api/v1/me/sessions');
        return listed.body.count === 3 ? listed.body : undefined;
      },
      { what: 'the sessions of the registration, the browser and the application' },
    );
    const ofApplication = body.sessions.find(
      (each: { client_id?: string }) => each.client_id === spa.client_id,
    );
    expect(ofApplication.id).toBe(claimsOf(access_token).sid);
  });

  it('oauth 17 takes a form from its own origin alone', async () => {
    const page = browser(fixture);
    const { location } = await page.get(authorize(spa));
    const body = { email: bob.email, password: 'x' };
    const path = `${location}/login`;
    for (const headers of [{ origin: 'https://evil.example' }, { origin: 'null' }]) {
      expect((await page.post(path, body, headers)).status).toBe(403);
    }
    expect((await page.post(path, body)).status).toBe(401);
    const stranger = browser(fixture);
    expect((await stranger.post(path, body)).status).toBe(404);
  });

  it('oauth 17 shows a page whose forms may lead to the application, and that escapes what it shows', async () => {
    const scheme = 'com.example.app:/callback';
    const native = await application(fixture, admin, {
      ...{ name: '<b>&"Shop', type: 'native', redirect_uris: [scheme] },
    });
    const page = browser(fixture);
    const url = authorize(native, { redirect_uri: scheme, login_hint: '"><script>' });
    const { location } = await page.get(url);
    const login = await page.get(location);
    const policy = login.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("form-action 'self' com.example.app:");
    expect(policy).toContain("frame-ancestors 'none'");
    // The page has one script of its own, which shows the password.
    expect(login.text.split('<script>')).toHaveLength(2);
    expect(login.text).not.toContain('"><script>');
    const signed = await page.form(`${location}/login`, {
      email: bob.email,
      password: 'correct horse battery',
    });
    expect(signed.status).toBe(303);
    const resumed = await page.get(signed.location);
    const consent = await page.get(resumed.location);
    expect(consent.text).toContain('&lt;b&gt;&amp;&quot;Shop');
    const allowed = await page.form(`${resumed.location}/consent`, { 'scope:profile': 'on' });
    const back = await page.get(allowed.location);
    expect(back.location).toContain(`${scheme}?code=`);
  });

  it('begins with the address of login_hint as it is stored, or with none [identity-19]', async () => {
    for (const [hint, shown] of [
      [' Bob\uff20B\u00fccher.example. ', 'bob@xn--bcher-kva.example'],
      [bob.email.toUpperCase(), bob.email],
      ['bob', undefined],
      ['bob@example.com/..', undefined],
    ] as const) {
      const page = browser(fixture);
      const { location } = await page.get(authorize(own, { login_hint: hint }));
      const { body } = await page.get(location, { accept: 'application/json' });
      expect(body.login_hint).toBe(shown);
      if (shown !== undefined) expect((await page.get(location)).text).toContain(`"${shown}"`);
    }
  });

  it('oauth 17 lets the page of a form_post run its own script alone, and be framed by nobody', async () => {
    const page = browser(fixture);
    await authorized(fixture, { client: own, account: bob, page });
    const shown = await page.get(authorize(own, { response_mode: 'form_post' }));
    expect(shown.status).toBe(200);
    const [, script = ''] = /<script>([\s\S]*?)<\/script>/.exec(shown.text) ?? [];
    const hash = createHash('sha256').update(script).digest('base64');
    expect(shown.headers.get('content-security-policy')).toBe(
      `default-src 'none'; script-src 'sha256-${hash}'; frame-ancestors 'none'; base-uri 'none'`,
    );
    expect(shown.headers.get('cache-control')).toBe('no-store');
  });

  it('goes back to the application when the user cancels', async () => {
    const page = browser(fixture);
    const { location } = await page.get(authorize(spa));
    const { body } = await page.post(`${location}/abort`);
    const back = await page.get(body.redirect_to);
    expect(back.location).toContain('error=access_denied');
  });

  it('asks for the second factor where one is due', async () => {
    const erin = await fixture.register(admin.tenantId, 'erin');
    const rest = fixture.as(erin);
    const enrolled = await rest.post('/api/v1/me/mfa/totp', {});
    expect(enrolled.status).toBe(201);
    const { TOTP } = await import('otpauth');
    const totp = new TOTP({ secret: enrolled.body.secret });
    const at = () => fixture.clock.now().getTime();
    const confirmed = await rest.post(`/api/v1/me/mfa/totp/${enrolled.body.factor_id}/confirm`, {
      code: totp.generate({ timestamp: at() }),
    });
    const [recovery] = confirmed.body.recovery_codes;
    const page = browser(fixture);
    const { location } = await page.get(authorize(own));
    const body = { email: erin.email, password: 'correct horse battery' };
    const first = await page.post(`${location}/login`, body);
    expect(first.body).toEqual({ mfa_required: true, mfa_methods: ['totp', 'recovery'] });
    const wrong = await page.post(`${location}/mfa`, { method: 'recovery', code: 'AAAAAAAAAA' });
    expect([wrong.status, wrong.body.error]).toEqual([401, 'invalid_code']);
    const right = await page.post(`${location}/mfa`, { method: 'recovery', code: recovery });
    expect(right.status).toBe(200);
    const back = await page.get(right.body.redirect_to);
    expect(back.location).toContain('code=');
  });

  it('takes six appends at most from authorizing to tokens, where the browser is signed in', async () => {
    const page = browser(fixture);
    await authorized(fixture, { client: own, account: bob, page });
    const before = await fixture.head();
    await authorized(fixture, { client: own, account: bob, page });
    const appended = (await fixture.eventsSince(before)).map(({ type }) => type);
    expect(appended).toEqual(['SessionStarted']);
  });

  it('oauth 10 19 issues tokens for a resource server, which Cardea itself refuses', async () => {
    const identifier = `https://orders.${bob.userId}.example`;
    const scopes = [{ name: 'orders:read', description: 'Read orders' }];
    const made = await fixture
      .as(admin)
      .post('/api/v1/admin/resource-servers', { identifier, name: 'Orders', scopes });
    expect(made.status).toBe(201);
    const client = await application(fixture, admin, { scopes: ['openid', 'orders:read'] });
    const more = { scope: 'openid orders:read', resource: identifier };
    const { access_token, refresh_token } = await authorized(fixture, {
      client,
      account: bob,
      more,
    });
    expect(claimsOf(access_token)).toMatchObject({ aud: identifier, scope: 'orders:read' });
    expect((await introspect(access_token)).active).toBe(true);
    const { tenantId: tenant } = admin;
    expect(
      (await fixture.rest.get('/api/v1/auth/me', { bearer: access_token, tenant })).status,
    ).toBe(401);
    expect((await fixture.rest.get('/oauth2/userinfo', { bearer: access_token })).status).toBe(401);
    const other = { resource: `${fixture.issuer}/api` };
    expect((await refresh(client, refresh_token, other)).body.error).toBe('invalid_target');
    const wider = { scope: 'orders:read profile' };
    expect((await refresh(client, refresh_token, wider)).body.error).toBe('invalid_scope');
    expect((await refresh(client, refresh_token)).body.scope).toBe('orders:read');
  });
});
