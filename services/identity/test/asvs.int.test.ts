/** Requirements of OWASP ASVS that no other test covers: `docs/security/asvs.md`. */
import { describe, expect, it, vi } from 'vitest';
import { AUTH, body, contractFixture, NEW_PASSWORD } from './contract-fixture.ts';
import { claimsOf, PASSWORD } from './identity-fixture.ts';
import {
  application,
  authorizeUrl,
  browser,
  pkce,
  REDIRECT,
  signIn,
  token,
} from './oauth-fixture.ts';

const world = contractFixture();
const CODE_MS = 60_000;

describe('passwords', () => {
  it('6.2.6 6.2.7 are masked in every page, and password managers fill them in', async () => {
    const { fixture } = world;
    const client = await application(fixture, world.admin);
    const page = browser(fixture);
    const asked = await page.get(authorizeUrl(client, { code_challenge: pkce().challenge }));
    const pages = [
      (await page.get(asked.location)).text,
      ...(await Promise.all(
        [`${AUTH}/reset-password`, `${AUTH}/invitations/accept`].map(
          async (path) => (await page.get(path)).text,
        ),
      )),
    ];
    for (const html of pages) {
      const fields = html.match(/<input[^>]*name="(?:new_)?password"[^>]*>/g) ?? [];
      expect(fields, html).toHaveLength(1);
      expect(fields[0]).toContain('type="password"');
      expect(fields[0]).toMatch(/autocomplete="(?:current|new)-password"/);
      expect(html).not.toContain('onpaste');
    }
  });

  it('6.2.8 are taken to the letter: case, spaces and the last of 128 characters', async () => {
    const { fixture } = world;
    const bob = await world.newcomer();
    const long = ` A${'x'.repeat(125)}y`;
    const change = { current_password: PASSWORD, new_password: long };
    body(await fixture.as(bob).post('/api/v1/user/change-password', change));
    for (const near of [long.trim(), long.toLowerCase(), `${long.slice(0, -1)}z`, `${long} `]) {
      expect((await fixture.logIn(bob, near)).status).not.toBe(200);
    }
    expect((await fixture.logIn(bob, long)).status).toBe(200);
  });
});

describe('accounts', () => {
  it('6.3.2 nobody has an account unless somebody made it', async () => {
    const { database } = world.fixture.host.needsOf('identity');
    const { rows } = await database.system.query<{ email: string }>(
      `SELECT email FROM identity.users WHERE email NOT LIKE '%@example.com'`,
    );
    expect(rows).toEqual([]);
  });

  it('6.4.2 no endpoint asks for a hint or the answer to a question', () => {
    const asked = world.fixture.host.endpoints.map(({ contract }) =>
      JSON.stringify([contract.path, contract.body ?? null]),
    );
    const known = /password_?hint|(?:secret|security)_?(?:question|answer)/i;
    expect(asked.filter((each) => known.test(each))).toEqual([]);
  });
});

describe('a sign-in', () => {
  it('7.2.2 7.2.4 begins a session of its own with tokens of its own', async () => {
    const { fixture } = world;
    const bob = await world.newcomer();
    const [first, second] = [await fixture.logIn(bob), await fixture.logIn(bob)];
    const stepUp = { method: 'password', password: PASSWORD };
    const as = fixture.as({ ...bob, access: first.body.access_token });
    const renewed = body(await as.post(`${AUTH}/step-up`, stepUp)).access_token;
    const sids = [bob.access, first.body.access_token, second.body.access_token].map(
      (access) => claimsOf(access).sid,
    );
    expect(new Set(sids).size).toBe(3);
    expect(renewed).not.toBe(first.body.access_token);
    expect(claimsOf(renewed).sid).toBe(claimsOf(first.body.access_token).sid);
    expect(first.body.refresh_token).not.toBe(second.body.refresh_token);
    body(
      await fixture.as(bob).post('/api/v1/user/change-password', {
        ...{ current_password: PASSWORD, new_password: NEW_PASSWORD },
      }),
    );
    expect((await fixture.refresh(first.body.refresh_token)).status).toBe(401);
  });
});

describe('the authorization server', () => {
  it('10.4.3 a code is worth nothing after its minute', async () => {
    const { fixture } = world;
    const client = await application(fixture, world.admin);
    const account = await world.newcomer();
    const { verifier, challenge } = pkce();
    const url = authorizeUrl(client, { code_challenge: challenge });
    const back = await signIn(browser(fixture), url, { account });
    // The library reads only the system clock.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + CODE_MS + 1_000 });
    try {
      const answer = await token(fixture, {
        ...{ grant_type: 'authorization_code', client_id: client.client_id },
        ...{ redirect_uri: REDIRECT, code_verifier: verifier },
        code: back.searchParams.get('code'),
      });
      expect(answer.body.error).toBe('invalid_grant');
    } finally {
      vi.useRealTimers();
    }
  });
});
