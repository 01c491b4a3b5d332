/** Devices without a browser, at two replicas with one cache (RFC 8628). */
import { armFailPoints, parseFailPoints } from '@cardea/runtime';
import { untilTrue } from '@cardea/testing';
import * as openid from 'openid-client';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  allow,
  askFor,
  confirmed,
  deviceApplication,
  enter,
  poll,
  requestDevice,
  xsrfOf,
} from './device-fixture.ts';
import { claimsOf } from './identity-fixture.ts';
import {
  application,
  authorized,
  browser,
  clientOf,
  oauthCalls,
  oauthFixture,
  type TestClient,
} from './oauth-fixture.ts';
import { oauthReplicasOfFile } from './oauth-replicas-fixture.ts';

const of = oauthReplicasOfFile();
let device: TestClient;
beforeAll(async () => {
  device = await deviceApplication(of.one, of.admin);
});
afterEach(() => {
  armFailPoints([]);
  vi.useRealTimers();
});

const { refresh } = oauthCalls(() => of.one);
const pendingAt = { status: 400, body: { error: 'authorization_pending' } };
/** Polls after enough time that it is not too early. */
const polled = (request: { readonly device_code: string }, client = device, at = of.one) =>
  untilTrue(async () => {
    const answer = await poll(at, client, request);
    return answer.body.error === 'slow_down' ? undefined : answer;
  });

describe('a device', () => {
  it('gets tokens with openid-client once a person has allowed it, and only once [oauth 37]', async () => {
    const { client_id } = device;
    const config = await clientOf(of.one, client_id, openid.None());
    const started = await openid.initiateDeviceAuthorization(config, { scope: 'openid email' });
    expect(started.user_code).toMatch(/^[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}$/);
    expect(started).toMatchObject({ expires_in: 600, interval: 5 });
    expect(started.verification_uri).toBe(`${of.one.issuer}/oauth2/device`);
    const { user_code } = started;
    // The person decides at another replica.
    const { prompts, last } = await allow(browser(of.other), { user_code, account: of.bob });
    expect(prompts).toEqual(['login', 'consent']);
    expect(last.text).toContain('Your device is connected');
    const tokens = await openid.pollDeviceAuthorizationGrant(config, started);
    expect(tokens.claims()).toMatchObject({ sub: of.bob.userId, email: of.bob.email });
    expect(claimsOf(tokens.access_token)).toMatchObject({ client_id, scope: 'openid email' });
    const info = await openid.fetchUserInfo(config, tokens.access_token, of.bob.userId);
    expect(info.email).toBe(of.bob.email);
    const next = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '');
    expect(next.claims()).toMatchObject({ sub: of.bob.userId, email: of.bob.email });
    expect((await polled(started, device, of.other)).body.error).toBe('invalid_grant');
    expect((await refresh(device, next.refresh_token ?? '')).status).toBe(200);
  });

  it('is told to slow down where it asks too often, at whichever replica [oauth 37]', async () => {
    const request = await requestDevice(of.one, device);
    expect(await poll(of.one, device, request)).toMatchObject(pendingAt);
    expect(await poll(of.other, device, request)).toMatchObject({
      ...{ status: 400, body: { error: 'slow_down' } },
    });
    // Another application that obtained the code cannot slow the device down.
    const foreign = await deviceApplication(of.one, of.admin);
    expect((await polled(request)).body.error).toBe('authorization_pending');
    expect((await poll(of.one, foreign, request)).body.error).toBe('invalid_grant');
  });

  it('is served once of 100 polls at once at both replicas [oauth 37]', async () => {
    const request = await requestDevice(of.one, device);
    await allow(browser(of.one), { user_code: request.user_code, account: of.bob });
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) => poll(n % 2 === 0 ? of.one : of.other, device, request)),
    );
    const served = answers.filter(({ status }) => status === 200);
    expect(served).toHaveLength(1);
    const others = new Set(answers.filter(({ status }) => status !== 200).map((a) => a.body.error));
    // On a busy machine the last polls are no longer early and find the code used.
    expect(['slow_down', 'invalid_grant']).toEqual(expect.arrayContaining([...others]));
  });

  it('is told where a person did not start it or does not allow it [oauth 37]', async () => {
    const first = await requestDevice(of.one, device);
    const page = browser(of.one);
    const { user_code } = first;
    const shown = await enter(page, user_code);
    const abort = await page.form('/oauth2/device', {
      ...{ xsrf: xsrfOf(shown), user_code, abort: 'yes' },
    });
    expect(abort.text).toContain('not given access');
    expect((await polled(first)).body.error).toBe('access_denied');

    const second = await requestDevice(of.one, device);
    const account = of.bob;
    const by = { user_code: second.user_code, account };
    const { path } = await confirmed(page, await enter(page, second.user_code), by);
    const denied = await page.post(`${path}/abort`);
    expect((await page.get(denied.body.redirect_to)).text).toContain('not given access');
    expect((await polled(second)).body.error).toBe('access_denied');
    // The first decision stays.
    expect((await enter(page, second.user_code)).text).toContain('used before');
  });

  it('learns that its code has expired, and nobody can allow it any more [oauth 37]', async () => {
    const request = await requestDevice(of.one, device);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 601_000 });
    expect((await poll(of.one, device, request)).body.error).toBe('expired_token');
    const late = await enter(browser(of.one), request.user_code);
    expect([late.status, late.text.includes('has expired')]).toEqual([400, true]);
  });

  it('is served although the replica where it began and a person decided is gone [oauth 37]', async () => {
    const { DATABASE_URL: database, REDIS_URL, JWT_SECRET, ENCRYPTION_KEY } = of.settings;
    const third = await oauthFixture(database, { REDIS_URL, JWT_SECRET, ENCRYPTION_KEY });
    const request = await requestDevice(third, device);
    await allow(browser(third), { user_code: request.user_code, account: of.bob });
    await third.stop();
    expect((await poll(of.other, device, request)).status).toBe(200);
  });

  it('starts again where the process ended between its code and its session [oauth 37]', async () => {
    const request = await requestDevice(of.one, device);
    await allow(browser(of.one), { user_code: request.user_code, account: of.bob });
    const before = await of.one.head();
    armFailPoints(parseFailPoints('device.after_consume=throw@1') ?? []);
    expect((await poll(of.one, device, request)).status).toBe(500);
    armFailPoints([]);
    expect((await polled(request, device, of.other)).body.error).toBe('invalid_grant');
    const since = await of.one.eventsSince(before);
    expect(since.filter(({ type }) => type === 'SessionStarted')).toEqual([]);
  });
});

describe('what a device is given', () => {
  it('is asked for each time, also by a first-party application [oauth 37]', async () => {
    const scopes = ['openid', 'email', 'roles', 'account'];
    const ours = await application(of.one, of.admin, {
      ...{ type: 'web', first_party: true, scopes },
      grant_types: [
        'authorization_code',
        'refresh_token',
        'urn:ietf:params:oauth:grant-type:device_code',
      ],
    });
    const page = browser(of.one);
    const more = { scope: 'openid email' };
    await authorized(of.one, { client: ours, account: of.bob, page, more });
    for (const round of [1, 2]) {
      const { user_code } = await requestDevice(of.one, ours);
      const { prompts } = await allow(page, { user_code, account: of.bob });
      expect([round, prompts]).toEqual([round, ['consent']]);
    }
    // Acting with the user's roles requires a recent sign-in.
    const request = await requestDevice(of.one, ours, 'openid roles');
    const { prompts } = await allow(page, { user_code: request.user_code, account: of.bob });
    expect(prompts).toEqual(['login', 'consent']);
    const { body } = await polled(request, ours);
    expect(claimsOf(body.access_token).scope).toBe('openid roles');
  });

  it.each<[string, string]>([
    ['the whole account', 'openid account'],
    ['nothing', ''],
  ])('is never %s [oauth 37]', async (_what, scope) => {
    const scopes = ['openid', 'account'];
    const ours = await deviceApplication(of.one, of.admin, { first_party: true, scopes });
    const answer = await askFor(of.one, ours, { scope });
    expect([answer.status, answer.body.error]).toEqual([400, 'invalid_scope']);
  });

  it.each<[string, (id: string) => Promise<unknown>]>([
    ['all sessions', () => of.one.as(of.bob).delete('/api/v1/me/sessions')],
    [
      'the consent',
      async (clientId) => {
        const rest = of.one.as(of.bob);
        const { consents } = (await rest.get('/api/v1/auth/consents')).body;
        const { id } = consents.find((each: TestClient) => each.client_id === clientId);
        return rest.delete(`/api/v1/auth/consents/${id}`);
      },
    ],
    [
      'a scope of the application',
      (id) => of.one.as(of.admin).patch(`/api/v1/admin/applications/${id}`, { scopes: ['openid'] }),
    ],
  ])(
    'is void once a person has ended it after they allowed it: %s [oauth 37]',
    async (_what, end) => {
      const own = await deviceApplication(of.one, of.admin);
      const request = await requestDevice(of.one, own);
      await allow(browser(of.one), { user_code: request.user_code, account: of.bob });
      await end(own.id);
      expect((await poll(of.other, own, request)).body.error).toBe('invalid_grant');
    },
  );
});
