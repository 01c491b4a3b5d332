/** The owner of an account gets a mail about each change to the ways of signing in. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { metrics } from '@cardea/runtime';
import { testDatabase, untilTrue, writeGeoDatabase } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Account,
  type IdentityFixture,
  identityFixture,
  PASSWORD,
} from './identity-fixture.ts';
import { mfaTokenOf, show, withTotp } from './mfa-fixture.ts';
import { softwareAuthenticator } from './software-authenticator.ts';

const NEW_PASSWORD = 'another password of theirs';
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const FROM = { headers: { 'user-agent': FIREFOX, 'x-forwarded-for': '81.2.69.142' } };
const NOTICE = /^(?:Security notice|Sicherheitshinweis): /;
const MINUTE_MS = 60_000;

const database = testDatabase();
let folder: string;
let fixture: IdentityFixture;
let admin: Account;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cardea-geo-'));
  const path = join(folder, 'city.mmdb');
  const london = { network: '81.2.69.0/24', city: 'London', region: 'England', country: 'GB' };
  await writeGeoDatabase(path, [london]);
  fixture = await identityFixture(database.url, {
    GEOIP_DB_PATH: path,
    TRUSTED_PROXIES: '127.0.0.0/8,::1/128',
    RATE_LIMIT_FACTOR: '1000',
  });
  const owner = await fixture.signUp();
  const { token } = await fixture.mail(owner.email, /Confirm/);
  await fixture.as(owner).post('/api/v1/auth/verify-email', { token });
  admin = await fixture.signInAgain(owner);
});
afterAll(async () => {
  await fixture?.stop();
  await rm(folder, { recursive: true, force: true });
});

type Mail = { readonly subject: string; readonly text: string; readonly link: string | null };
const noticesTo = async ({ email }: Pick<Account, 'email'>): Promise<readonly Mail[]> => {
  const { body } = await fixture.rest.get('/dev/mailbox', { query: { to: email } });
  return body.messages.filter(({ subject }: Mail) => NOTICE.test(subject));
};
const notices = (to: Pick<Account, 'email'>, ...about: readonly string[]) =>
  untilTrue(
    async () => {
      const found = await noticesTo(to);
      const subjects = found.map(({ subject }) => subject.replace(NOTICE, '')).toSorted();
      return JSON.stringify(subjects) === JSON.stringify(about.toSorted()) ? found : undefined;
    },
    { what: `notices about: ${about.join('; ')}` },
  );
const ok = (answer: { readonly status: number; readonly text: string }) =>
  expect(answer.status, answer.text).toBeLessThan(300);
const newcomer = () => fixture.registerVerified(admin.tenantId);
const userPath = ({ userId }: Account) => `/api/v1/admin/users/${userId}`;

async function changePassword(of: Account, from = PASSWORD, to = NEW_PASSWORD) {
  const body = { current_password: from, new_password: to };
  ok(await fixture.as(of).post('/api/v1/user/change-password', body, FROM));
}
async function addPasskey(of: Account): Promise<string> {
  const me = fixture.as(of);
  const { challenge_id, options } = (await me.post('/api/v1/me/passkeys/options')).body;
  const response = softwareAuthenticator().create(options);
  const made = await me.post('/api/v1/me/passkeys', { challenge_id, response, name: 'Key' });
  ok(made);
  return String(made.body.id);
}

describe('people 11 a change to how an account is signed in to', () => {
  it('is told with time, device and place: a password that was changed', async () => {
    const bob = await newcomer();
    await changePassword(bob);
    const [mail] = await notices(bob, 'your password was changed');
    expect(mail?.text).toMatch(
      /Address: bob\S+\nTime: 20\d\d-\d\d-\d\d \d\d:\d\d UTC\nDevice: Firefox, Linux\nPlace: London, GB\n/,
    );
    expect(mail?.text).not.toMatch(/81\.2|#token/);
    expect(mail?.link).toBeNull();
    const { values } = await metrics.notices.get();
    expect(values.find(({ labels }) => labels.kind === 'security_notice')?.labels).toEqual({
      ...{ kind: 'security_notice', outcome: 'sent' },
    });
  });

  it('is told of each factor: added, used, made, removed', async () => {
    const eva = await withTotp(fixture, await newcomer());
    await notices(eva, 'an authenticator app was added', 'new recovery codes were made');
    fixture.clock.move(MINUTE_MS);
    const [code = ''] = eva.recoveryCodes;
    const token = await mfaTokenOf(fixture, eva);
    const shown = await show(fixture, token, { method: 'recovery', code });
    ok(shown);
    const me = { ...eva, access: shown.body.access_token };
    const used = 'a recovery code was used';
    const before = ['an authenticator app was added', 'new recovery codes were made', used];
    const mails = await notices(eva, ...before);
    expect(mails.find(({ subject }) => subject.includes(used))?.text).toContain('Codes left: 9');
    const id = await addPasskey(me);
    ok(await fixture.as(me).delete(`/api/v1/me/passkeys/${id}`));
    ok(await fixture.as(me).delete(`/api/v1/me/mfa/${eva.factorId}`));
    await notices(
      eva,
      ...[...before, 'a passkey was added', 'a passkey was removed'],
      'an authenticator app was removed',
    );
  });

  it('is told of what an administrator does, without where they are, and at the end', async () => {
    const dan = await newcomer();
    ok(await fixture.as(admin).patch(userPath(dan), { status: 'disabled' }));
    const [disabled] = await notices(dan, 'your account was disabled');
    expect(disabled?.text).toContain('Done by: an administrator');
    expect(disabled?.text).not.toMatch(/Device:|Place:/);
    ok(await fixture.as(admin).delete(userPath(dan)));
    const both = ['your account was disabled', 'your account was deleted'];
    const mails = await notices(dan, ...both);
    expect(mails.find(({ subject }) => subject.endsWith('deleted'))?.text).toContain(dan.email);
  });

  it('is told that an administrator acts in their name', async () => {
    const kim = await newcomer();
    const reason = 'ticket 4711';
    const again = fixture.as(await fixture.signInAgain(admin));
    ok(await again.post(`${userPath(kim)}/impersonate`, { reason }));
    const [mail] = await notices(kim, 'an administrator acts in your name');
    expect(mail?.text).toContain('Done by: an administrator');
    expect(mail?.text).not.toMatch(/Device:|Place:|4711/);
    const owner = await fixture.as(admin).get('/api/v1/auth/me');
    const denied = await again.post(`/api/v1/admin/users/${owner.body.user.id}/impersonate`, {
      reason,
    });
    expect(denied.status).toBe(403);
    expect(await noticesTo(admin)).toEqual([]);
  });

  it('is told in the language of the account, with the tenant’s page once it is verified', async () => {
    const ida = await newcomer();
    ok(await fixture.as(ida).patch('/api/v1/user/profile', { locale: 'de-AT' }));
    await fixture.setTenant(admin.tenantId, { app_url: 'https://app.example' });
    await fixture.rest.post(
      '/api/v1/auth/forgot-password',
      { email: ida.email },
      {
        tenant: ida.tenantId,
      },
    );
    const { token } = await fixture.mail(ida.email, /neues Passwort/i);
    const body = { token, new_password: NEW_PASSWORD };
    ok(await fixture.rest.post('/api/v1/auth/reset-password', body, FROM));
    const [mail] = await notices(ida, 'Ihr Passwort wurde zurückgesetzt');
    expect(mail?.text).toContain('Ihr Konto öffnen: https://app.example\n');
    expect(mail?.text).toContain('Gerät: Firefox, Linux\nOrt: London, GB');
    await fixture.setTenant(admin.tenantId, { app_url: null });
  });

  it('is told of a factor that came with the account as little as of the account', async () => {
    const made = await fixture.register(admin.tenantId, 'quiet');
    ok(await fixture.as(made).patch('/api/v1/user/profile', { display_name: 'Quiet' }));
    await changePassword(made);
    await notices(made, 'your password was changed');
  });
});

describe('people 11 many changes at once', () => {
  it('are told five times a minute, and then by one mail that counts', async () => {
    const fay = await newcomer();
    const ids: string[] = [];
    for (let n = 0; n < 4; n += 1) ids.push(await addPasskey(fay));
    for (const id of ids) ok(await fixture.as(fay).delete(`/api/v1/me/passkeys/${id}`));
    const added = Array.from({ length: 4 }, () => 'a passkey was added');
    await notices(fay, ...added, 'a passkey was removed');
    fixture.clock.move(MINUTE_MS + 1_000);
    const mails = await notices(
      fay,
      ...[...added, 'a passkey was removed'],
      '3 more changes to your account',
    );
    expect(mails).toHaveLength(6);
  });

  it('to an address that was never proven are told five times a day', async () => {
    const gil = await fixture.register(admin.tenantId, 'unproven');
    for (let n = 0; n < 3; n += 1) {
      const id = await addPasskey(gil);
      ok(await fixture.as(gil).delete(`/api/v1/me/passkeys/${id}`));
    }
    const before = ['a passkey was added', 'a passkey was removed'];
    await notices(gil, ...before, ...before, 'a passkey was added');
    ok(await fixture.as(admin).delete(userPath(gil)));
    const hal = await newcomer();
    await changePassword(hal);
    await notices(hal, 'your password was changed');
    expect(await noticesTo(gil)).toHaveLength(5);
  });
});
