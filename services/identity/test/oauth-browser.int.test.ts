/** Pages of other origins and applications on a device, tested in a real browser. */
import { testDatabase, untilTrue } from '@cardea/testing';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CALLBACK,
  CHROMIUM,
  type ChromiumFixture,
  chromiumFixture,
  FOREIGN,
  ISSUER,
} from './chromium-fixture.ts';
import { type Account, PASSWORD } from './identity-fixture.ts';
import { application, type OAuthFixture, oauthCalls, oauthFixture } from './oauth-fixture.ts';

const STEP_MS = 120_000;
const ALLOWED = new URL(CALLBACK).origin;
const SCHEME = 'com.example.shop:/callback';

/** Runs in the page and adds a second content security policy to that of the headers. */
const STRICT = `const policy = document.createElement('meta');
  policy.httpEquiv = 'Content-Security-Policy';
  policy.content = "form-action 'self'";
  document.head.append(policy);`;

const database = testDatabase();
let fixture: OAuthFixture;
let chromium: ChromiumFixture;
let admin: Account;

const { authorize } = oauthCalls(() => fixture);

type Answer = { status: number; headers: { [name: string]: string }; text: string };
type Init = { method?: string; headers?: object; body?: string; credentials?: string };

/** The response that a script of the page can read; `refused` if the browser blocks it. */
const fetched = (page: Page, path: string, init: Init = {}): Promise<Answer | 'refused'> =>
  page.evaluate(`(async () => {
    try {
      const answer = await fetch(${JSON.stringify(ISSUER + path)}, ${JSON.stringify(init)});
      const headers = Object.fromEntries(answer.headers);
      return { status: answer.status, headers, text: await answer.text() };
    } catch {
      return 'refused';
    }
  })()`);

describe.skipIf(CHROMIUM === undefined)('in Chromium', () => {
  beforeAll(async () => {
    fixture = await oauthFixture(database.url, { ISSUER, PUBLIC_URL: ISSUER });
    chromium = await chromiumFixture(fixture.baseUrl);
    admin = await fixture.signUp();
  }, STEP_MS);
  afterAll(async () => {
    await chromium?.stop();
    await fixture?.stop();
  });

  it(
    'oauth 26 a page of an allowed origin reads answers and their exposed headers, another one none',
    async () => {
      await application(fixture, admin, { allowed_origins: [ALLOWED] });
      const page = await chromium.open();
      await page.goto(CALLBACK);
      const headers = {
        authorization: `Bearer ${admin.access}`,
        'x-service-tenant': admin.tenantId,
      };
      const me = '/api/v1/user/profile';
      const change = {
        ...{ method: 'PATCH', body: JSON.stringify({ display_name: 'Ann' }) },
        headers: { ...headers, 'content-type': 'application/json' },
      };
      const read = await untilTrue(
        async () => {
          const answer = await fetched(page, me, { headers });
          return answer === 'refused' ? undefined : answer;
        },
        { what: 'the origin is allowed' },
      );
      expect(read.status).toBe(200);
      expect(JSON.parse(read.text).email).toBe(admin.email);
      expect(read.headers).toHaveProperty('x-request-id');
      expect(read.headers).not.toHaveProperty('x-content-type-options');
      const changed = await fetched(page, me, change);
      expect(changed).toMatchObject({ status: 200 });
      expect(changed).toHaveProperty('headers.x-service-consistency');
      const anonymous = await fetched(page, me);
      expect(anonymous).toMatchObject({ status: 401 });
      expect(anonymous).toHaveProperty('headers.www-authenticate');
      // No response allows credentials, so the browser blocks it.
      expect(await fetched(page, me, { headers, credentials: 'include' })).toBe('refused');

      const other = await chromium.open();
      await other.goto(FOREIGN);
      expect(await fetched(other, me, { headers })).toBe('refused');
      expect(await fetched(other, me, change)).toBe('refused');
      expect(await fetched(other, '/.well-known/openid-configuration')).toMatchObject({
        status: 200,
      });
    },
    STEP_MS,
  );

  it(
    'oauth 17 no page of another origin signs anybody in at a page that was opened here',
    async () => {
      const shop = await application(fixture, admin, { redirect_uris: [CALLBACK] });
      const page = await chromium.open();
      await page.goto(ISSUER + authorize(shop, { redirect_uri: CALLBACK }));
      const action = new URL(`${page.url()}/login`);
      const other = await page.context().newPage();
      await other.goto(FOREIGN);
      await other.setContent(`<form method="post" action="${action}">
        <input name="email" value="${admin.email}"><input name="password" value="${PASSWORD}">
        <button>Win a prize</button></form>`);
      const [request] = await Promise.all([
        other.waitForRequest((sent) => sent.url() === action.href),
        other.click('button'),
      ]);
      await other.waitForURL(action.href);
      const sent = await request.allHeaders();
      expect(sent['origin']).toBe(FOREIGN);
      expect(sent['cookie']).toContain('cardea_interaction');
      expect((await request.response())?.status()).toBe(403);
      expect(await other.textContent('main')).toContain('was not sent from our own page');
    },
    STEP_MS,
  );

  it(
    'oauth 17 the form reaches an application of a scheme of its own, under the policy of the page',
    async () => {
      const app = await application(fixture, admin, {
        ...{ type: 'native', redirect_uris: [SCHEME], first_party: true },
      });
      const signedIn = async (page: Page, policy?: string) => {
        const left = new Set<string>();
        const session = await page.context().newCDPSession(page);
        await session.send('Network.enable');
        session.on('Network.requestWillBeSent', ({ request }) => {
          if (request.url.startsWith(SCHEME)) left.add(new URL(request.url).search);
        });
        const refused: string[] = [];
        page.on('console', (line) => {
          if (line.text().includes('form-action')) refused.push(line.text());
        });
        await page.goto(ISSUER + authorize(app, { redirect_uri: SCHEME }));
        if (policy !== undefined) await page.evaluate(policy);
        await page.fill('#email', admin.email);
        await page.fill('#password', PASSWORD);
        await page.click('button[value=password]', { noWaitAfter: true });
        await untilTrue(async () => left.size + refused.length > 0, {
          what: 'the browser goes to the application, or refuses to',
        });
        return { left: [...left], refused };
      };
      const reached = await signedIn(await chromium.open());
      expect(reached.refused).toEqual([]);
      expect(reached.left).toEqual([expect.stringContaining('code=')]);

      // With a policy that does not list its scheme the browser refuses, which shows that the policy applies.
      const kept = await signedIn(await chromium.open(), STRICT);
      expect(kept.left).toEqual([]);
      expect(kept.refused).not.toEqual([]);
    },
    STEP_MS,
  );
});
