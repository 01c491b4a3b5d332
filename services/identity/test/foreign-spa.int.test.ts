/** A single-page application with oidc-client-ts in a real browser, from sign-in to sign-out. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { untilTrue } from '@cardea/testing';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { CALLBACK, CHROMIUM, hostedOfFile, ISSUER } from './chromium-fixture.ts';
import { PASSWORD } from './identity-fixture.ts';
import { application, oauthCalls, type TestClient } from './oauth-fixture.ts';

const STEP_MS = 120_000;
const BUNDLE = fileURLToPath(
  new URL('../browser/oidc-client-ts.min.js', import.meta.resolve('oidc-client-ts')),
);
const library = readFileSync(BUNDLE, 'utf8');
const ALLOWED = new URL(CALLBACK).origin;
const ALGORITHMS = ['EdDSA', 'RS256'] as const;

type User = {
  readonly access_token: string;
  readonly refresh_token?: string;
  readonly scope: string;
  readonly profile: { readonly [claim: string]: unknown };
};

/** Loads the library into the page, as the application's own script would, and runs `script` with `manager`. */
async function withManager<T>(page: Page, client: TestClient, script: string): Promise<T> {
  await page.addScriptTag({ content: library });
  const settings = JSON.stringify({
    ...{ authority: ISSUER, client_id: client.client_id, redirect_uri: CALLBACK },
    ...{ post_logout_redirect_uri: CALLBACK, scope: 'openid email' },
    ...{ loadUserInfo: true, automaticSilentRenew: false },
  });
  return await page.evaluate(`(async () => {
    const manager = new oidc.UserManager(${settings});
    ${script}
  })()`);
}

describe.skipIf(CHROMIUM === undefined)('a page with oidc-client-ts in Chromium', () => {
  const hosted = hostedOfFile();
  const { introspect } = oauthCalls(() => hosted.fixture);
  let clients: { readonly [algorithm: string]: TestClient };
  beforeAll(async () => {
    const made = ALGORITHMS.map(async (algorithm) => {
      const client = await application(hosted.fixture, hosted.admin, {
        ...{ first_party: true, redirect_uris: [CALLBACK], allowed_origins: [ALLOWED] },
        ...{ post_logout_redirect_uris: [CALLBACK], id_token_signed_response_alg: algorithm },
      });
      return [algorithm, client] as const;
    });
    clients = Object.fromEntries(await Promise.all(made));
  });

  it.each(ALGORITHMS)(
    'oauth 36 standards 11 signs in, renews and signs out with id_tokens by %s',
    async (algorithm) => {
      const client = clients[algorithm] as TestClient;
      const page = await hosted.chromium.open();
      await page.goto(CALLBACK);
      await withManager(page, client, 'void manager.signinRedirect({ state: { from: "a b" } });');
      await page.fill('#email', hosted.admin.email);
      await page.fill('#password', PASSWORD);
      await page.click('button[value=password]');
      await page.waitForURL((url) => url.searchParams.has('code'));
      const user = await withManager<User & { readonly state: unknown }>(
        page,
        client,
        `const user = await manager.signinCallback(); return { ...user, state: user.state };`,
      );
      expect(user.state).toEqual({ from: 'a b' });
      expect(user.profile).toMatchObject({ email: hosted.admin.email });
      expect(user.scope.split(' ')).toEqual(['openid', 'email']);

      const renewed = await withManager<User>(
        page,
        client,
        'const user = await manager.signinSilent(); return { ...user };',
      );
      expect(renewed.access_token).not.toBe(user.access_token);
      expect(renewed.profile['sub']).toBe(user.profile['sub']);

      await withManager(page, client, 'void manager.signoutRedirect({ state: "bye" });');
      await page.waitForURL(
        ({ origin, searchParams }) =>
          origin === ALLOWED && searchParams.has('state') && !searchParams.has('code'),
      );
      const left = await withManager<{ readonly state: unknown; readonly user: unknown }>(
        page,
        client,
        `const answer = await manager.signoutCallback();
         return { state: answer.userState, user: await manager.getUser() };`,
      );
      expect(left).toEqual({ state: 'bye', user: null });
      const ended = await untilTrue(async () => !(await introspect(renewed.access_token)).active, {
        what: 'the session of the browser has ended',
      });
      expect(ended).toBe(true);
    },
    STEP_MS,
  );
});
