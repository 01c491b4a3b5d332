/** Mails are in the requester's language, or in the tenant's if the requester names none. */
import { beforeEach, describe, expect, it } from 'vitest';
import { type Account, PASSWORD } from './identity-fixture.ts';
import { application, browser, oauthCalls, oauthOfFile } from './oauth-fixture.ts';

const { fixture } = oauthOfFile();
let ann: Account;
beforeEach(async () => {
  ann = await fixture.signUp();
});

const GERMAN = { 'accept-language': 'fr, de-AT;q=0.9, en;q=0.8' };
const { authorize } = oauthCalls(() => fixture);
const ask = (path: string, body: object, headers: { [name: string]: string } = {}) =>
  fixture.rest.post(`/api/v1/auth/${path}`, body, { tenant: ann.tenantId, headers });
const german = async (to: string, subject: string) => {
  const { text } = await fixture.mail(to, new RegExp(`^${subject}$`));
  expect(text).toMatch(/\nAdresse: .*\nDiese E-Mail kommt von Company of ann\.\n$/s);
};

describe('a mail that somebody asks for', () => {
  it('is in the language of their request', async () => {
    const email = `bob.${ann.userId}@example.com`;
    const registered = await ask('register', { email, password: PASSWORD }, GERMAN);
    expect(registered.status).toBe(201);
    await german(email, 'Bestätigen Sie Ihre E-Mail-Adresse');
    await ask('register', { email, password: PASSWORD }, GERMAN);
    await german(email, 'Sie haben bereits ein Konto');
    await ask('forgot-password', { email }, GERMAN);
    await german(email, 'Neues Passwort festlegen');
    await ask('magic-link', { email: ann.email }, GERMAN);
    await german(ann.email, 'Anmelden');
    await ask('otp/send', { email: ann.email }, GERMAN);
    await german(ann.email, 'Ihr Code zum Anmelden');
    await ask('otp/send', { email: ann.email });
    expect((await fixture.mail(ann.email, /code/)).text).toContain('This mail comes from');
  });

  it('is in the language of the administrator who invites, or sends a link', async () => {
    const rest = fixture.as(ann);
    const [guest, member] = [`guest.${ann.userId}@example.com`, `new.${ann.userId}@example.com`];
    await rest.post('/api/v1/admin/invitations', { email: guest }, { headers: GERMAN });
    await german(guest, 'Sie sind eingeladen');
    const body = { email: member, send_invitation: true };
    await rest.post('/api/v1/admin/users', body, { headers: GERMAN });
    await german(member, 'Sie sind eingeladen');
    const bob = await fixture.register(ann.tenantId);
    const path = `/api/v1/admin/users/${bob.userId}/reset-password`;
    await rest.post(path, {}, { headers: GERMAN });
    await german(bob.email, 'Neues Passwort festlegen');
  });

  it('is in the language of the hosted page, whatever the browser prefers', async () => {
    const client = await application(fixture, ann);
    const page = browser(fixture);
    const english = { 'accept-language': 'en' };
    const { location } = await page.get(authorize(client, { ui_locales: 'de' }), english);
    const body = { email: ann.email, method: 'email_otp' };
    expect((await page.post(`${location}/login`, body, english)).status).toBe(200);
    await german(ann.email, 'Ihr Code zum Anmelden');
  });

  it('is in the language of the tenant where they name none that there is, and so are its pages', async () => {
    const set = (language: string) =>
      fixture.as(ann).patch(`/api/v1/admin/tenants/${ann.tenantId}`, { settings: { language } });
    expect((await set('fr')).status).toBe(400);
    expect((await set('de')).status).toBe(200);
    const french = { 'accept-language': 'fr' };
    await ask('forgot-password', { email: ann.email }, french);
    await german(ann.email, 'Neues Passwort festlegen');
    const client = await application(fixture, ann);
    const page = browser(fixture);
    const { location } = await page.get(authorize(client), french);
    expect((await page.get(location, french)).text).toContain('<html lang="de">');
    await ask('otp/send', { email: ann.email }, { 'accept-language': 'en-GB' });
    expect((await fixture.mail(ann.email, /code/)).text).toContain('This mail comes from');
  });
});
