/** `passport-oauth2` in a server-side web application. */
import { Strategy } from 'passport-oauth2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claimsOf } from './identity-fixture.ts';
import { application, browser, oauthOfFile } from './oauth-fixture.ts';
import { type PassportSite, passportSite } from './passport-fixture.ts';

const { fixture, admin } = oauthOfFile();
let site: PassportSite;
let home: string;
beforeAll(async () => {
  site = await passportSite();
  home = site.home;
  const { client_id: clientID, client_secret: clientSecret = '' } = await application(
    fixture,
    admin,
    { type: 'web', first_party: true, redirect_uris: [`${home}/callback`] },
  );
  const strategy = new Strategy(
    {
      ...{ clientID, clientSecret, callbackURL: `${home}/callback` },
      authorizationURL: `${fixture.issuer}/oauth2/authorize`,
      tokenURL: `${fixture.baseUrl}/oauth2/token`,
      ...{ scope: ['openid', 'email'], state: true, pkce: true },
    },
    (access: string, refresh: string, _profile: unknown, done: (e: null, user: object) => void) =>
      done(null, { access, refresh }),
  );
  site.use(strategy);
});
afterAll(() => site?.stop());

describe('a web application with passport', () => {
  it('oauth 1 signs a person in, with its secret, a state of its own and PKCE', async () => {
    const sent = await fetch(`${home}/login`, { redirect: 'manual' });
    const page = browser(fixture);
    const to = new URL(sent.headers.get('location') ?? '');
    expect(to.origin).toBe(fixture.issuer);
    const { location } = await page.get(to.pathname + to.search);
    const signed = await page.post(`${location}/login`, {
      email: admin.email,
      password: 'correct horse battery',
    });
    const back = new URL((await page.get(signed.body.redirect_to)).location);
    const answer = await fetch(back);
    expect(answer.status).toBe(200);
    const { access, refresh } = (await answer.json()) as { access: string; refresh: string };
    expect(claimsOf(access)).toMatchObject({ sub: admin.userId, scope: 'openid email' });
    expect(refresh).toMatch(/^rt_/);
    const again = await fetch(back);
    expect(again.status).not.toBe(200);
  });
});
