/** The pages on which a person enters, compares and confirms a device's code. */
import { beforeAll, describe, expect, it } from 'vitest';
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
import type { Account } from './identity-fixture.ts';
import { browser, oauthOfFile, type TestClient } from './oauth-fixture.ts';

const { fixture, admin } = oauthOfFile({
  RATE_LIMIT_FACTOR: '1',
  TRUSTED_PROXIES: '127.0.0.1/32',
});
let device: TestClient;
let bob: Account;
beforeAll(async () => {
  device = await deviceApplication(fixture, admin);
  bob = await fixture.register(admin.tenantId);
});

describe('the pages of a device', () => {
  it('show the code, the application, its scopes and a warning, before and after the sign-in [oauth 37]', async () => {
    const { user_code } = await requestDevice(fixture, device);
    const page = browser(fixture);
    const shown = await enter(page, user_code);
    const policy = shown.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    for (const text of [user_code, 'Terminal', 'See your e-mail address', 'only if you started']) {
      expect(shown.text).toContain(text);
    }
    const { path } = await confirmed(page, shown, { user_code, account: bob });
    const consent = await page.get(path);
    for (const text of [user_code, 'Terminal', 'See your e-mail address', 'only if you started']) {
      expect(consent.text).toContain(text);
    }
    const view = (await page.get(path, { accept: 'application/json' })).body;
    expect(view).toMatchObject({ prompt: 'consent', device: { user_code }, client: { host: '' } });
  });

  it.each<[string, (code: string) => string]>([
    ['small letters with a space', (code) => code.toLowerCase().replace('-', ' ')],
    ['full-width letters', (code) => wide(code)],
    ['a long dash', (code) => code.replace('-', '\u2014')],
    ['nothing between', (code) => code.replace('-', '')],
  ])('read a code that was typed with %s [oauth 37]', async (_how, typed) => {
    const { user_code } = await requestDevice(fixture, device);
    expect((await enter(browser(fixture), typed(user_code))).text).toContain(user_code);
  });

  it('take a code from the address, and ask about it all the same [oauth 37]', async () => {
    const { user_code, verification_uri_complete: to } = await requestDevice(fixture, device);
    const page = browser(fixture);
    const sent = await page.get(new URL(to).pathname + new URL(to).search);
    const shown = await page.form('/oauth2/device', { xsrf: xsrfOf(sent), user_code });
    expect(shown.text).toContain('only if you started');
  });

  it('take no form of another page [oauth 37]', async () => {
    const { user_code } = await requestDevice(fixture, device);
    const page = browser(fixture);
    await page.get('/oauth2/device');
    for (const xsrf of ['', 'f'.repeat(48)]) {
      const forged = await page.form('/oauth2/device', { xsrf, user_code, confirm: 'yes' });
      expect([forged.status, forged.location]).toEqual([400, '']);
      expect(forged.text).not.toContain('only if you started');
    }
  });

  it('begin anew for a browser that has lost its cookie [oauth 37]', async () => {
    const { user_code } = await requestDevice(fixture, device);
    const lost = await browser(fixture).form('/oauth2/device', { xsrf: 'f'.repeat(48), user_code });
    const resumed = await browser(fixture).get('/oauth2/device/nobody');
    for (const { location } of [lost, resumed]) {
      expect(new URL(location, fixture.issuer).pathname).toBe('/oauth2/device');
    }
  });

  it('tell a program in JSON what it did wrong [oauth 37]', async () => {
    const page = browser(fixture);
    const { text } = await page.get('/oauth2/device');
    const xsrf = xsrfOf({ text });
    for (const body of [{ user_code: 'BBBB-BBBB' }, { user_code: 'BBBB-BBBB', xsrf }]) {
      const answer = await page.form('/oauth2/device', body, { accept: 'application/json' });
      expect([answer.status, answer.body.error]).toEqual([400, 'invalid_request']);
    }
    const json = await fixture.rest.post('/oauth2/device', { user_code: 'BBBB-BBBB' });
    expect([json.status, json.body.error]).toEqual([400, 'invalid_request']);
  });

  it('lock out who guesses codes, and nobody else [oauth 37]', async () => {
    const { user_code } = await requestDevice(fixture, device);
    const from = (ip: string) => ({ 'x-forwarded-for': ip });
    const [page, stranger, neighbour] = [browser(fixture), '203.0.113.7', '203.0.113.8'];
    // Each page that asks again has a new secret.
    let asking = await page.get('/oauth2/device');
    const guess = async (code: string, ip: string) => {
      const form = { xsrf: xsrfOf(asking), user_code: code };
      asking = await page.form('/oauth2/device', form, from(ip));
      return asking;
    };
    for (let n = 0; n < 20; n += 1) {
      expect((await guess('BBBB-BBBB', stranger)).status).toBe(400);
    }
    expect((await guess('BBBB-BBBB', stranger)).status).toBe(429);
    // A locked-out person does not learn whether a code is right.
    expect((await guess(user_code, stranger)).status).toBe(429);
    expect((await guess(user_code, neighbour)).text).toContain(user_code);
    for (let n = 0; n < 30; n += 1) expect((await guess(user_code, neighbour)).status).toBe(200);
  });
});

describe('devices', () => {
  it('that wait behind one address do not use up its failures [oauth 37]', async () => {
    for (let n = 0; n < 80; n += 1) {
      const request = await requestDevice(fixture, device);
      expect((await poll(fixture, device, request)).body.error).toBe('authorization_pending');
    }
    const { user_code } = await requestDevice(fixture, device);
    await allow(browser(fixture), { user_code, account: bob });
  });

  it('of strangers are bounded by the application that they name, per network [oauth 37]', async () => {
    const own = await deviceApplication(fixture, admin);
    const ask = (ip: string) => askFor(fixture, own, { headers: { 'x-forwarded-for': ip } });
    const statuses: number[] = [];
    for (let n = 0; n < 130; n += 1) statuses.push((await ask('198.51.100.9')).status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(120);
    expect((await ask('192.0.2.9')).status).toBe(200);
  });
});

/** Wide Latin letters, as some keyboards type them (U+FF21 is a wide A). */
const wide = (code: string): string =>
  code.replaceAll(/[A-Z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0));
