/** Every method to sign in at the authorization server, used through JSON by same-origin programs. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  application,
  type Browser,
  browser,
  oauthCalls,
  oauthOfFile,
  type TestClient,
} from './oauth-fixture.ts';
import { knownAt, newPerson, type SocialFixture, socialFixture } from './social-fixture.ts';

const { fixture, admin } = oauthOfFile();
let social: SocialFixture;
let own: TestClient;
beforeAll(async () => {
  social = await socialFixture(fixture);
  await social.setUp(admin, {
    auth_methods: ['password', 'passkeys', 'magic_link', 'otp', 'google', 'github'],
  });
  own = await application(fixture, admin, { first_party: true });
});
afterAll(async () => {
  await social?.stop();
});

const { authorize } = oauthCalls(() => fixture);

const JSON_ONLY = { accept: 'application/json' };
const begun = async (page: Browser = browser(fixture)) => {
  const { location } = await page.get(authorize(own));
  return { page, path: location };
};
const goesOn = async (page: Browser, redirectTo: string) =>
  (await page.get(redirectTo)).location.includes('code=');

/** Goes to the provider and back to the page of the authorization server. */
async function throughGitHub(path: string) {
  const uid = path.split('/').at(-1) ?? '';
  const answer = await social.authorize('github', { tenant_id: admin.tenantId, interaction: uid });
  const cookie = answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const url = new URL(answer.headers.get('location') ?? '');
  const back = await social.callback(await social.atProvider(url), cookie);
  return new URL(back.headers.get('location') ?? '');
}

describe('the hosted sign-in', () => {
  it('names the ways of its tenant that lead anywhere from its pages', async () => {
    const { page, path } = await begun();
    const shown = await page.get(path, JSON_ONLY);
    // The domain of this tenant's passkeys differs from the issuer's.
    const ways = ['password', 'email_otp', 'magic_link', 'google', 'github'];
    expect(shown.body.methods).toEqual(ways);
  });

  it('takes who comes back from a provider, in the browser that went there, once', async () => {
    knownAt(social, 'github', newPerson());
    const { page, path } = await begun();
    const back = await throughGitHub(path);
    expect(back.href).toContain(`${fixture.issuer}${path}/social?code=`);
    const stranger = browser(fixture);
    const elsewhere = await begun(stranger);
    const stolen = `${elsewhere.path}/social${back.search}`;
    expect((await browser(fixture).get(`${path}/social${back.search}`)).status).toBe(404);
    const arrived = await page.get(`${path}/social${back.search}`);
    expect(arrived.status).toBe(303);
    expect(await goesOn(page, arrived.location)).toBe(true);
    const again = await stranger.get(stolen, JSON_ONLY);
    expect([again.status, again.body.error]).toEqual([401, 'invalid_state']);
  });

  it('says on its page what a provider was refused for', async () => {
    const person = newPerson();
    social.github.person = {
      user: { id: person.id, login: 'bob', name: 'Bob', avatar_url: null },
      emails: [{ email: person.email, primary: true, verified: false }],
    };
    const { page, path } = await begun();
    const back = await throughGitHub(path);
    expect(back.searchParams.get('error')).toBe('email_not_verified');
    const shown = await page.get(`${path}${back.search}`);
    expect(shown.status).toBe(200);
    expect(shown.text).toContain('The provider does not vouch for your e-mail address.');
    const odd = await page.get(`${path}?error=%3Cb%3E`);
    expect(odd.text).not.toContain('<b>');
  });

  it('takes a mailed code, and confirms the address by it', async () => {
    const bob = await fixture.register(admin.tenantId);
    const { page, path } = await begun();
    const wrong = await page.post(`${path}/login`, { method: 'email_otp', code: '0000-0000' });
    expect([wrong.status, wrong.body.error]).toEqual([401, 'invalid_code']);
    const sent = await page.post(`${path}/login`, { method: 'email_otp', email: bob.email });
    expect(Object.keys(sent.body)).toEqual(['challenge_id']);
    expect((await page.get(path, JSON_ONLY)).body.mailed).toBe('email_otp');
    const { text } = await fixture.mail(bob.email, /code/i);
    const code = /[0-9A-Z]{4}-[0-9A-Z]{4}/.exec(text)?.[0];
    const done = await page.post(`${path}/login`, { method: 'email_otp', code });
    expect(await goesOn(page, done.body.redirect_to)).toBe(true);
    const shown = await fixture.as(admin).get(`/api/v1/admin/users/${bob.userId}`);
    expect(shown.body.email_verified).toBe(true);
  });

  it('closes a mailed code after five wrong ones, and answers unknown addresses alike', async () => {
    const bob = await fixture.register(admin.tenantId);
    for (const email of [bob.email, 'nobody.here@example.com']) {
      const { page, path } = await begun();
      const sent = await page.post(`${path}/login`, { method: 'email_otp', email });
      expect(sent.status).toBe(200);
      const answers: string[] = [];
      for (let miss = 0; miss < 6; miss += 1) {
        const code = { method: 'email_otp', code: '0000-0000' };
        answers.push((await page.post(`${path}/login`, code)).body.error);
      }
      expect(answers).toEqual([...Array(5).fill('invalid_code'), 'too_many_attempts']);
    }
  });

  it('takes a mailed link once, and says so of one that was used', async () => {
    const bob = await fixture.register(admin.tenantId);
    const { page, path } = await begun();
    await page.post(`${path}/login`, { method: 'magic_link', email: bob.email });
    const { token, link } = await fixture.mail(bob.email, /^sign in$/i);
    expect(link).toBe(`${fixture.issuer}${path}/link#token=${token}`);
    expect((await page.get(`${path}/link`)).text).toContain('Press the button');
    const done = await page.post(`${path}/login`, { method: 'magic_link', token });
    expect(await goesOn(page, done.body.redirect_to)).toBe(true);
    const next = await begun();
    const again = await next.page.post(`${next.path}/login`, { method: 'magic_link', token });
    expect([again.status, again.body.error]).toEqual([401, 'invalid_link']);
  });

  it('takes no way that its tenant has switched off', async () => {
    await fixture.setTenant(admin.tenantId, { auth_methods: ['password'] });
    const { page, path } = await begun();
    expect((await page.get(path, JSON_ONLY)).body.methods).toEqual(['password']);
    for (const method of ['email_otp', 'magic_link']) {
      const sent = await page.post(`${path}/login`, { method, email: admin.email });
      expect([sent.status, sent.body.error]).toEqual([403, 'login_disabled']);
    }
    const challenge = await page.post(`${path}/challenge`, { method: 'passkey' });
    expect([challenge.status, challenge.body.error]).toEqual([403, 'login_disabled']);
  });
});
