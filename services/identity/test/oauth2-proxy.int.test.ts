/**
 * oauth2-proxy in front of an application: a user signs in through the hosted pages, stays signed in by refresh tokens,
 * and signs out at both. It runs in the long form only, since Go builds the proxy.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { freePort, processFixture, testForm, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Account, claimsOf, ofFile } from './identity-fixture.ts';
import {
  application,
  type Browser,
  browser,
  oauthCalls,
  reachableFixture,
  signIn,
} from './oauth-fixture.ts';

const MODULE = 'github.com/oauth2-proxy/oauth2-proxy/v7@v7.15.6';
const FOLDER = resolve(import.meta.dirname, '../../../.cache/verifiers');
const BUILD_MS_MAX = 600_000;
const REFRESH_AFTER = '1s';

describe.runIf(testForm.long)('oauth2-proxy', () => {
  const { fixture, admin } = ofFile(reachableFixture);
  const { introspect } = oauthCalls(() => fixture);
  const processes = processFixture();
  const seen: IncomingHttpHeaders[] = [];
  let upstream: Server;
  let ann: Account;
  let proxy = '';
  /** Why the proxy is unavailable. */
  let missing: string | undefined;

  beforeAll(async () => {
    missing = await built();
    if (missing !== undefined) return;
    upstream = createServer((request, response) => {
      seen.push(request.headers);
      response.end('the application');
    });
    await once(upstream.listen(0, '127.0.0.1'), 'listening');
    ann = await fixture.registerVerified(admin.tenantId);
    proxy = `http://127.0.0.1:${await freePort()}`;
    const client = await application(fixture, admin, {
      type: 'web',
      redirect_uris: [`${proxy}/oauth2/callback`],
      post_logout_redirect_uris: [`${proxy}/bye`],
    });
    await processes.start({
      name: 'oauth2-proxy',
      command: join(FOLDER, 'oauth2-proxy'),
      args: [
        ...['--provider=oidc', `--oidc-issuer-url=${fixture.issuer}`],
        ...[`--client-id=${client.client_id}`, `--client-secret=${client.client_secret}`],
        ...[`--http-address=${new URL(proxy).host}`, `--redirect-url=${proxy}/oauth2/callback`],
        `--upstream=http://127.0.0.1:${(upstream.address() as AddressInfo).port}/`,
        ...['--scope=openid profile email', '--code-challenge-method=S256', '--email-domain=*'],
        ...[`--cookie-secret=${randomBytes(16).toString('hex')}`, '--cookie-secure=false'],
        ...[
          `--cookie-refresh=${REFRESH_AFTER}`,
          `--whitelist-domain=${new URL(fixture.issuer).host}`,
        ],
        ...['--skip-provider-button', '--pass-access-token'],
      ],
      ready: /OAuthProxy configured/,
    });
  }, BUILD_MS_MAX);
  afterAll(() => upstream?.close());

  /** One user's browsers, at the application and at the authorization server. */
  const browsers = () => ({
    app: browser({ baseUrl: proxy, issuer: proxy }),
    pages: browser(fixture),
  });
  const authorizePath = async (app: Browser): Promise<string> => {
    const { status, location } = await app.get('/');
    expect([status, location.startsWith(`${fixture.issuer}/oauth2/authorize?`)]).toEqual([
      302,
      true,
    ]);
    return location.slice(fixture.issuer.length);
  };
  const tokenSeen = async (app: Browser): Promise<string> => {
    expect((await app.get('/')).text).toBe('the application');
    return String(seen.at(-1)?.['x-forwarded-access-token']);
  };

  it('signs somebody in, refreshes, and signs them out [standards 11]', async (context) => {
    if (missing !== undefined) return context.skip(missing);
    const { app, pages } = browsers();
    const asked = await authorizePath(app);
    const back = await signIn(pages, asked, { account: ann, redirect: `${proxy}/` });
    expect((await app.get(back.href)).status).toBe(302);

    const first = await tokenSeen(app);
    expect(seen.at(-1)).toMatchObject({
      'x-forwarded-user': ann.userId,
      'x-forwarded-email': ann.email,
    });
    const refreshed = async () => {
      const token = await tokenSeen(app);
      return token === first ? undefined : token;
    };
    const next = await untilTrue(refreshed, { what: 'another access token' });
    expect(claimsOf(next)['sid']).toBe(claimsOf(first)['sid']);
    expect(await introspect(next)).toMatchObject({ active: true, sub: ann.userId });

    const after = new URLSearchParams({ post_logout_redirect_uri: `${proxy}/bye` });
    // The proxy itself replaces the placeholder by the token.
    const end = `${fixture.issuer}/oauth2/session/end?id_token_hint={id_token}&${after}`;
    const out = await app.get(`/oauth2/sign_out?${new URLSearchParams({ rd: end })}`);
    expect([out.status, out.location]).toEqual([302, expect.stringContaining('id_token_hint=ey')]);
    const done = await pages.get(out.location.slice(fixture.issuer.length));
    expect([done.status, done.location]).toEqual([303, `${proxy}/bye`]);

    await untilTrue(async () => !(await introspect(next)).active, { what: 'its session to end' });
    const { location } = await pages.get(await authorizePath(app));
    const shown = await pages.get(location, { accept: 'application/json' });
    expect(shown.body.prompt).toBe('login');
  });
});

/** Returns why the proxy is unavailable, or undefined if it is present. */
async function built(): Promise<string | undefined> {
  try {
    await promisify(execFile)('go', ['install', MODULE], {
      env: { ...process.env, GOBIN: FOLDER },
    });
    return undefined;
  } catch (error) {
    return `no oauth2-proxy: ${error instanceof Error ? error.message : error}`;
  }
}
