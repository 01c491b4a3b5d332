/** How long the hosted pages wait: some minutes for a person, and for a mail as long as its secret works. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Account, PASSWORD } from './identity-fixture.ts';
import {
  application,
  authorizeUrl,
  type Browser,
  browser,
  oauthOfFile,
  pkce,
  type TestClient,
} from './oauth-fixture.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const { fixture, admin } = oauthOfFile();
let shop: TestClient;
beforeEach(async () => {
  shop = await application(fixture, admin, { first_party: true });
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Advances the clock of this process, which the server shares. */
const pass = (ms: number) => vi.setSystemTime(Date.now() + ms);
const begun = async (page: Browser, more: { [name: string]: string } = {}) => {
  const url = authorizeUrl(shop, { code_challenge: pkce().challenge, ...more });
  return new URL((await page.get(url)).location, fixture.issuer).href;
};
const code = async (page: Browser, location: string) =>
  new URL((await page.get(location)).location).searchParams.get('code');

describe('a hosted page', () => {
  it('people 12 waits ten minutes for a person', async () => {
    const page = browser(fixture);
    const at = await begun(page);
    pass(9 * MINUTE_MS);
    expect((await page.get(at)).status).toBe(200);
    pass(2 * MINUTE_MS);
    const lapsed = await page.get(at);
    expect([lapsed.status, lapsed.text.includes('has lapsed')]).toEqual([404, true]);
  });

  it('people 12 takes a mailed link to sign in as long as that works, and says so afterwards', async () => {
    const bob = await fixture.register(admin.tenantId);
    const [page, late] = [browser(fixture), browser(fixture)];
    const [at, atLate] = [await begun(page), await begun(late)];
    pass(9 * MINUTE_MS);
    const sent = await page.form(`${at}/login`, { method: 'magic_link', email: bob.email });
    expect(sent.headers.getSetCookie().join()).toMatch(/cardea_interaction=.*cardea_resume=/);
    const { token } = await fixture.mail(bob.email, /^sign in$/i);
    pass(14 * MINUTE_MS);
    const signedIn = await page.form(`${at}/login`, { method: 'magic_link', token });
    expect(await code(page, signedIn.location)).toBeTruthy();
    expect((await late.get(atLate)).status).toBe(404);
    const again = await begun(late);
    const cora = await fixture.register(admin.tenantId, 'cora');
    await late.form(`${again}/login`, { method: 'magic_link', email: cora.email });
    const next = await fixture.mail(cora.email, /^sign in$/i);
    pass(16 * MINUTE_MS);
    const expired = await late.form(`${again}/login`, { method: 'magic_link', token: next.token });
    expect([expired.status, expired.text.includes('has expired')]).toEqual([410, true]);
  });

  it('people 12 takes the code or the link of a registration a day later', async () => {
    const page = browser(fixture);
    const at = await begun(page, { prompt: 'create' });
    const email = `late.${Date.now()}@example.com`;
    const registered = { email, password: PASSWORD, display_name: '' };
    await page.form(`${at}/register`, registered);
    const { token } = await fixture.mail(email, /Confirm/);
    pass(23 * HOUR_MS);
    expect((await page.get(at)).text).toContain(email);
    const proven = await page.form(`${at}/verify-email`, { token });
    expect(await code(page, proven.location)).toBeTruthy();
  });

  it('people 12 waits for whoever sets a new password, as long as the mail lets them', async () => {
    const bob: Account = await fixture.register(admin.tenantId);
    const page = browser(fixture);
    const at = await begun(page);
    await page.form(`${at}/forgot-password`, { email: bob.email });
    const { token } = await fixture.mail(bob.email, /new password/i);
    pass(59 * MINUTE_MS);
    const new_password = 'a wholly new password';
    const reset = await fixture.rest.post('/api/v1/auth/reset-password', { token, new_password });
    expect(reset.status, reset.text).toBe(200);
    await page.form(`${at}/restart`);
    const back = await page.form(`${at}/login`, { email: bob.email, password: new_password });
    expect(await code(page, back.location)).toBeTruthy();
  });

  it('people 12 counts wrong codes of a mailed link, and takes its link all the same', async () => {
    const bob = await fixture.register(admin.tenantId);
    const page = browser(fixture);
    const at = await begun(page);
    const sent = await page.post(`${at}/login`, { method: 'magic_link', email: bob.email });
    expect(Object.keys(sent.body)).toEqual(['challenge_id']);
    const { token, text } = await fixture.mail(bob.email, /^sign in$/i);
    const right = /type this code [^:]+: (\S+)/.exec(text)?.[1];
    const answers: string[] = [];
    for (let miss = 0; miss < 5; miss += 1) {
      const wrong = { method: 'magic_link', code: '0000-0000' };
      answers.push((await page.post(`${at}/login`, wrong)).body.error);
    }
    const closed = await page.post(`${at}/login`, { method: 'magic_link', code: right });
    answers.push(closed.body.error);
    expect(answers).toEqual([...Array(5).fill('invalid_code'), 'too_many_attempts']);
    // The code is not accepted by the API, and it is not a code to sign in with, which the tenant may have disabled.
    const unbound = { code: right, email: bob.email };
    const api = await fixture.rest.post('/api/v1/auth/otp/verify', unbound, {
      tenant: admin.tenantId,
    });
    expect(api.status).toBe(401);
    const done = await page.post(`${at}/login`, { method: 'magic_link', token });
    expect(await code(page, done.body.redirect_to)).toBeTruthy();
  });
});
