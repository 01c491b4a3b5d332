/** Imported users keep their authenticator apps, and mail is sent in the tenant's name. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { argon2 } from '../src/adapters/argon2.ts';
import {
  type Account,
  type IdentityFixture,
  identityFixture,
  PASSWORD,
} from './identity-fixture.ts';
import { mfaTokenOf, nextCode, show } from './mfa-fixture.ts';

const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
const IMPORT = '/api/v1/admin/users/import';
const database = testDatabase();
let fixture: IdentityFixture;
let folder: string;
let ann: Account;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cardea-mail-'));
  fixture = await identityFixture(database.url, {
    RATE_LIMIT_FACTOR: '10000',
    CARDEA_DATA: folder,
    MAIL_FROM: 'Cardea <no-reply@mail.example>',
  });
});
afterAll(async () => {
  await fixture?.stop();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  ann = await fixture.signUp();
});

const hash = () => argon2({ memoryKib: 64, time: 1 }).hash(PASSWORD);

describe('an imported person with a TOTP secret', () => {
  it('signs in by password and the app that they have', async () => {
    const email = `bob.${ann.email}`;
    const bob = { email, password_hash: await hash(), totp_secret: SECRET.toLowerCase() };
    const headers = { 'idempotency-key': 'once' };
    const ask = () => fixture.as(ann).post(IMPORT, { users: [bob] }, { headers });
    expect((await ask()).body).toEqual({ imported: 1, failed: [] });
    const position = await fixture.head();
    expect((await ask()).body).toEqual({ imported: 1, failed: [] });
    const events = (await fixture.eventsSince(position)).map(({ type }) => type);
    // Earlier mail may still have been under way.
    expect(events.filter((type) => type !== 'MailSettled')).toEqual([]);
    const token = await mfaTokenOf(fixture, { tenantId: ann.tenantId, email });
    const code = nextCode(fixture, SECRET);
    const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, '0');
    expect(await show(fixture, token, { method: 'totp', code: wrong })).toMatchObject({
      status: 401,
      code: 'invalid_code',
    });
    expect((await show(fixture, token, { method: 'totp', code })).status).toBe(200);
    const log = JSON.stringify(await fixture.eventsSince(0n), (_, value) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    expect(log).not.toContain(SECRET);
  });

  it.each(['short', 'AAAA', '0189', 'A'.repeat(200)])(
    'is not taken with a secret that is none: %s',
    async (totp_secret) => {
      const users = [{ email: `bob.${ann.email}`, totp_secret }];
      const { body } = await fixture.as(ann).post(IMPORT, { users });
      expect(body).toEqual({ imported: 0, failed: [{ index: 0, code: 'invalid_totp_secret' }] });
    },
  );
});

describe('the mail of a tenant', () => {
  const newest = async (to: string) => {
    await fixture.mail(to, /Sign in/);
    const names = (await readdir(join(folder, 'mail'))).filter((name) => name.endsWith('.eml'));
    const mails = await Promise.all(
      names.map((name) => readFile(join(folder, 'mail', name), 'utf8')),
    );
    return mails.find((mail) => mail.includes(`To: ${to}`) && mail.includes('Subject: Sign in'));
  };
  const set = (email: object) =>
    fixture.as(ann).patch(`/api/v1/admin/tenants/${ann.tenantId}`, { settings: { email } });

  it('has the name and the address for answers that its owner sets', async () => {
    expect((await set({ from_name: 'Ann & Co', reply_to: 'help@ann.example' })).status).toBe(200);
    const { email, tenantId: tenant } = ann;
    const { token } = await fixture.mail(email, /Confirm/);
    await fixture.rest.post('/api/v1/auth/verify-email', { token });
    await fixture.rest.post('/api/v1/auth/magic-link', { email }, { tenant });
    const mail = await newest(email);
    expect(mail).toMatch(/^From: "?Ann & Co"? <no-reply@mail\.example>$/m);
    expect(mail).toMatch(/^Reply-To: help@ann\.example$/m);
  });

  it('has neither before somebody with a proven address answers for the tenant', async () => {
    const eve = await fixture.signUp('eve');
    const email = { from_name: 'Your Bank', reply_to: 'help@bank.example' };
    const path = `/api/v1/admin/tenants/${eve.tenantId}`;
    expect((await fixture.as(eve).patch(path, { settings: { email } })).status).toBe(200);
    const asked = { email: eve.email };
    await fixture.rest.post('/api/v1/auth/magic-link', asked, { tenant: eve.tenantId });
    const mail = await newest(eve.email);
    expect(mail).toMatch(/^From: Cardea <no-reply@mail\.example>$/m);
    expect(mail).not.toContain('bank.example');
    expect(mail).not.toContain('Your Bank');
  });

  it.each([
    { from_name: 'two\r\nlines' },
    { from_name: '' },
    { reply_to: 'nobody' },
    { reply_to: 'a@b.example, c@d.example' },
    { from: 'ceo@bank.example' },
  ])('is refused in another form: %j', async (email) => {
    expect(await set(email)).toMatchObject({ status: 400, code: 'invalid_request' });
  });
});
