/** A real browser on the hosted pages: Debian's Chromium with a virtual authenticator. */
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { testDatabase } from '@cardea/testing';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import type { Account } from './identity-fixture.ts';
import {
  application,
  authorizeUrl,
  type OAuthFixture,
  oauthFixture,
  pkce,
  type TestClient,
} from './oauth-fixture.ts';

/** The headless shell is the same browser without windows, and takes a tenth of their processor time. */
const PATHS = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'].map(
  (name) => `/usr/bin/${name}`,
);

/** Undefined if Chromium is not installed. */
export const CHROMIUM = [process.env['CHROMIUM_BINARY'] ?? '', ...PATHS].find(existsSync);

/** The callback of applications. The fixture answers it. */
export const CALLBACK = 'http://127.0.0.1:65529/callback';
/** An origin that differs from both, but belongs to the issuer's site, so the browser sends the issuer's cookies. */
export const FOREIGN = 'http://localhost:65528';
/** A host name, because passkeys require one; and the loopback name, because other hosts require https. */
export const ISSUER = 'http://localhost:65530';

/** A host name that is not loopback. Over plain HTTP browsers send no `Sec-Fetch-Site` to it. */
export const PLAIN_ISSUER = 'http://id.example.test:65527';

/** The URL to which an application at `CALLBACK` redirects a browser to sign in. */
export const signInUrl = (
  client: TestClient,
  more: { [name: string]: string } = {},
  issuer = ISSUER,
): string =>
  issuer +
  authorizeUrl(client, { code_challenge: pkce().challenge, redirect_uri: CALLBACK, ...more });

export type ChromiumFixture = {
  /** Opens a page in a new browser profile. */
  readonly open: (options?: BrowserContextOptions) => Promise<Page>;
  readonly stop: () => Promise<void>;
};

/** `baseUrl` is where requests to the issuer are sent. */
export async function chromiumFixture(baseUrl: string): Promise<ChromiumFixture> {
  const application = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html' }).end('<title>application</title>');
  });
  await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve));
  const { port } = application.address() as AddressInfo;
  const browser: Browser = await chromium.launch({
    ...(CHROMIUM === undefined ? {} : { executablePath: CHROMIUM }),
    args: [
      '--no-sandbox',
      `--host-resolver-rules=MAP ${new URL(ISSUER).host} ${new URL(baseUrl).host},` +
        `MAP ${new URL(PLAIN_ISSUER).host} ${new URL(baseUrl).host},` +
        `MAP ${new URL(CALLBACK).host} 127.0.0.1:${port},` +
        `MAP ${new URL(FOREIGN).host} 127.0.0.1:${port}`,
    ],
  });
  return {
    open: async (options = {}) => (await browser.newContext(options)).newPage(),
    stop: async () => {
      await browser.close();
      application.closeAllConnections();
      await new Promise((resolve) => application.close(resolve));
    },
  };
}

const START_MS = 120_000;

/**
 * Starts identity with a first-party application, a browser on its hosted pages and an administrator, for a test file.
 */
export function hostedOfFile(issuer = ISSUER) {
  const database = testDatabase();
  let fixture: OAuthFixture;
  let browser: ChromiumFixture;
  let admin: Account;
  let shop: TestClient;
  beforeAll(async () => {
    fixture = await oauthFixture(database.url, { ISSUER: issuer, PUBLIC_URL: issuer });
    browser = await chromiumFixture(fixture.baseUrl);
    admin = await fixture.signUp();
    shop = await application(fixture, admin, { redirect_uris: [CALLBACK], first_party: true });
  }, START_MS);
  afterAll(async () => {
    await browser?.stop();
    await fixture?.stop();
  });
  return {
    get fixture() {
      return fixture;
    },
    get chromium() {
      return browser;
    },
    get admin() {
      return admin;
    },
    get shop() {
      return shop;
    },
  };
}

/** Adds a virtual passkey device to the page. It confirms everything, even what a page requests without a click. */
export async function withAuthenticator(
  page: Page,
): Promise<{ isUserVerified(yes: boolean): Promise<void> }> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true },
      ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
    },
  });
  return {
    isUserVerified: async (isUserVerified) => {
      await session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
    },
  };
}
