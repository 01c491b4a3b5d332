/** A real browser at the hosted pages: Debian's Chromium, with an authenticator of its own. */
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

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Undefined where none is installed. */
export const CHROMIUM = [process.env['CHROMIUM_BINARY'] ?? '', ...PATHS].find(existsSync);

/** Where applications are; the fixture answers there. */
export const CALLBACK = 'http://127.0.0.1:65529/callback';
/** Another origin than both, but of the issuer's site: its cookies go along. */
export const FOREIGN = 'http://localhost:65528';
/** A name, as passkeys are for names alone; and of this machine, as they need https anywhere else. */
export const ISSUER = 'http://localhost:65530';

/** A name that is not of this machine: over plain HTTP a browser sends no `Sec-Fetch-Site` there. */
export const PLAIN_ISSUER = 'http://id.example.test:65527';

/** Where an application at `CALLBACK` sends a browser to sign in. */
export const signInUrl = (
  client: TestClient,
  more: { [name: string]: string } = {},
  issuer = ISSUER,
): string =>
  issuer +
  authorizeUrl(client, { code_challenge: pkce().challenge, redirect_uri: CALLBACK, ...more });

export type ChromiumFixture = {
  /** A browser profile of its own. */
  readonly open: (options?: BrowserContextOptions) => Promise<Page>;
  readonly stop: () => Promise<void>;
};

/** `baseUrl` answers for the issuer. */
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

/** An instance with a first-party application, a browser at its hosted pages, and who administers it, for a test file. */
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

/** A passkey device of the page, which says yes to everything, also to what a page offers without a press of a button. */
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
