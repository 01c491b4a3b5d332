/** The pages of a person's own account, in a browser without JavaScript. */
import { beforeAll, describe, expect, it } from 'vitest';
import { formIn, signedIn } from './account-pages-fixture.ts';
import { type Account, PASSWORD } from './identity-fixture.ts';
import { nextCode } from './mfa-fixture.ts';
import { application, authorized, oauthOfFile } from './oauth-fixture.ts';

const { fixture, admin } = oauthOfFile();
const STEP_UP_MS = 600_000;
const newcomer = () => fixture.register(admin.tenantId);
let ann: Account;
beforeAll(async () => {
  ann = await newcomer();
});

const PAGES = [
  '',
  '/profile',
  '/email',
  '/security',
  '/sessions',
  '/applications',
  '/agents',
  '/data',
].map((path) => `/account${path}`);

describe('the pages of an account', () => {
  it.each(PAGES)('%s shows nothing to a stranger, and the person their own', async (path) => {
    const stranger = await fetch(fixture.baseUrl + path, { redirect: 'manual' });
    expect(stranger.headers.get('location')).toMatch(/^\/account\/sign-in\?/);
    const { get } = await signedIn(fixture, ann);
    const page = await get(path);
    expect(page.status, page.text).toBe(200);
    expect(page.text).toContain('aria-current="page"');
    expect(page.headers.get('referrer-policy')).toBe('same-origin');
    expect(page.headers.get('cross-origin-opener-policy')).toBe('same-origin');
  });

  it('say who somebody is and what is worth a look', async () => {
    const { get } = await signedIn(fixture, ann);
    const { text } = await get('/account');
    expect(text).toContain(ann.email);
    expect(text).toContain('Your address is not verified.');
    expect(text).toContain('You have no second factor');
    expect(text).toContain('data-part="/approve?part=waiting"');
  });
});

describe('the applications', () => {
  it('are named with what they may, and taken back after a page that says what ends', async () => {
    const bob = await newcomer();
    const client = await application(fixture, admin, { name: 'Bookshop' });
    await authorized(fixture, { client, account: bob });
    const { get, send } = await signedIn(fixture, bob);
    const shown = await get('/account/applications');
    expect(shown.text).toContain('Bookshop');
    const link = /href="([^"]*form=revoke[^"]*)"/.exec(shown.text)?.[1] ?? '';
    const asked = await get(link.replaceAll('&amp;', '&'));
    expect(asked.text).toContain('Bookshop gets nothing more of your account');
    const done = await send(asked, { form: 'revoke' });
    expect(done.location).toBe('/account/applications?done=revoke');
    expect((await get(done.location)).text).not.toContain('Bookshop');
  });
});

describe('the profile', () => {
  const PATH = '/account/profile';
  const REST = '/api/v1/user/profile';

  it('sends what was changed alone, and says what was done', async () => {
    const bob = await newcomer();
    const { get, send } = await signedIn(fixture, bob);
    const shown = await get(PATH);
    // Another client changes another field in between, which must stay.
    await fixture.as(bob).patch(REST, { locale: 'de' });
    const pressed = await send(shown, { form: 'profile', typed: { display_name: ' Bob B. ' } });
    expect([pressed.status, pressed.location]).toEqual([303, `${PATH}?done=profile`]);
    expect((await get(pressed.location)).text).toContain('Your profile was changed.');
    const { body } = await fixture.as(bob).get(REST);
    expect(body).toMatchObject({ display_name: 'Bob B.', locale: 'de' });
    const again = await send(await get(PATH), { form: 'profile' });
    expect(again.location).toBe(`${PATH}?done=unchanged`);
    const cleared = await send(await get(PATH), { form: 'profile', typed: { locale: '' } });
    expect(cleared.status).toBe(303);
    expect((await fixture.as(bob).get(REST)).body.locale).toBeNull();
  });

  it('shows both values where two have changed the same, and replaces on the second press', async () => {
    const bob = await newcomer();
    const { get, send } = await signedIn(fixture, bob);
    const shown = await get(PATH);
    await fixture.as(bob).patch(REST, { display_name: 'Robert' });
    const mine = { form: 'profile', typed: { display_name: 'Bobby' } };
    const refused = await send(shown, mine);
    expect(refused.status).toBe(409);
    expect(refused.text).toContain('Somebody else has changed this to: Robert');
    expect(refused.text).toContain('value="Bobby"');
    expect((await fixture.as(bob).get(REST)).body.display_name).toBe('Robert');
    expect((await send(refused, { form: 'profile' })).status).toBe(303);
    expect((await fixture.as(bob).get(REST)).body.display_name).toBe('Bobby');
  });

  it('says at the field what is wrong with it, and keeps what was typed', async () => {
    const { press } = await signedIn(fixture, ann);
    const typed = { display_name: 'Ann', avatar_url: 'http://pictures.example/<b>' };
    const refused = await press(PATH, { form: 'profile', typed });
    expect(refused.status).toBe(400);
    expect(refused.text).toMatch(/name="avatar_url"[^>]*aria-invalid="true"/);
    expect(refused.text).toContain('http://pictures.example/&lt;b&gt;');
    expect(refused.text).toContain('value="Ann"');
  });
});

describe('people 6 a form of the account', () => {
  const PATH = '/account/profile';
  const nameOf = async (of: Account) =>
    (await fixture.as(of).get('/api/v1/user/profile')).body.display_name;

  it('of another site, of another page or of another sign-in does nothing', async () => {
    const [bob, eve] = [await newcomer(), await newcomer()];
    const [mine, theirs] = [await signedIn(fixture, bob), await signedIn(fixture, eve)];
    const typed = { display_name: 'Forged' };
    const found = formIn((await mine.get(PATH)).text, { form: 'profile' });
    const fields = { ...found?.fields, ...typed };
    const foreign: readonly object[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ];
    for (const headers of foreign) {
      expect((await mine.page.form(PATH, fields, headers)).status).toBe(403);
    }
    const ofEve = formIn((await theirs.get(PATH)).text, { form: 'profile' })?.fields['form_token'];
    const ofPage = formIn((await mine.get('/account/sessions')).text, { form: 'end' });
    for (const form_token of [ofEve, ofPage?.fields['form_token'], '']) {
      const forged = { ...fields, form_token: form_token ?? 'none' };
      expect((await mine.page.form(PATH, forged)).status).toBe(403);
    }
    expect((await mine.page.form(PATH, { ...fields, roles: 'owner' })).status).toBe(400);
    expect(await nameOf(bob)).toBe('bob');
  });

  it('ends nothing of somebody else, and shows what people type as text', async () => {
    const [bob, eve] = [await newcomer(), await newcomer()];
    const { body } = await fixture.as(eve).get('/api/v1/me/sessions');
    const mine = await signedIn(fixture, bob);
    const shown = await mine.get('/account/sessions');
    const typed = { 'param.id': body.sessions[0].id };
    expect((await mine.send(shown, { form: 'end', typed })).status).toBe(404);
    expect((await fixture.as(eve).get('/api/v1/me/sessions')).body.count).toBe(1);
    const hostile = '<script>alert(1)</script>';
    await fixture.as(bob).patch('/api/v1/user/profile', { display_name: hostile });
    for (const path of ['/account', PATH]) {
      const { text } = await mine.get(path);
      expect(text).not.toContain(hostile);
      expect(text).toContain('&lt;script&gt;');
    }
  });
});

describe('people 4 a sign-in that was ended elsewhere', () => {
  const PATH = '/account/profile';

  it('is out at the next request; what was typed stays in the page', async () => {
    const bob = await newcomer();
    const { get, send } = await signedIn(fixture, bob);
    const shown = await get(PATH);
    const { body: signedInAt } = await fixture.as(bob).get('/api/v1/me/sessions');
    for (const { id, current } of signedInAt.sessions) {
      if (!current) await fixture.as(bob).delete(`/api/v1/me/sessions/${id}`);
    }
    const pressed = await send(shown, { form: 'profile', typed: { display_name: 'Kept' } });
    expect(pressed.status).toBe(401);
    expect(pressed.text).toContain('name="display_name" value="Kept"');
    expect((await get(PATH)).location).toMatch(/^\/account\/sign-in\?/);

    const again = await signedIn(fixture, bob);
    const going = await again.send(pressed, { form: 'profile' });
    expect([going.status, going.text.includes('value="Kept"')]).toEqual([403, true]);
    expect((await again.send(going, { form: 'profile' })).status).toBe(303);
    const { body } = await fixture.as(bob).get('/api/v1/user/profile');
    expect(body.display_name).toBe('Kept');
  });

  it('is out once the account was disabled', async () => {
    const bob = await newcomer();
    const { get } = await signedIn(fixture, bob);
    const path = `/api/v1/admin/users/${bob.userId}`;
    const disabled = await fixture.as(admin).patch(path, { status: 'disabled' });
    expect(disabled.status).toBe(200);
    expect((await get('/account')).location).toMatch(/^\/account\/sign-in\?/);
  });
});

describe('the devices', () => {
  const PATH = '/account/sessions';

  it('begin with this one, and end one by one or all others', async () => {
    const bob = await newcomer();
    await fixture.logIn(bob);
    const { get, send } = await signedIn(fixture, bob);
    const shown = await get(PATH);
    expect(shown.text.indexOf('this device')).toBeLessThan(shown.text.indexOf('name="form"'));
    const alive = async () => (await fixture.as(bob).get('/api/v1/me/sessions')).body.count;
    const before = await alive();
    const ended = await send(shown, { form: 'end' });
    expect(ended.location).toBe(`${PATH}?done=end`);
    expect((await get(ended.location)).text).toContain('That device was signed out.');
    await fixture.logIn(bob);
    const asked = await get(`${PATH}?form=end_others`);
    expect(asked.text).toContain(`${before - 1} other devices are signed out.`);
    const others = await send(asked, { form: 'end_others' });
    expect(others.status).toBe(303);
    const left = await get(PATH);
    expect(left.status).toBe(200);
    expect(left.text).not.toContain('name="form" value="end"');
  });
});

describe('the password', () => {
  const PATH = '/account/security';
  const NEXT = 'another long password of mine';

  it('is changed with the old one, ends all other devices, and never comes back', async () => {
    const bob = await newcomer();
    const { get, send } = await signedIn(fixture, bob);
    const shown = await get(`${PATH}?form=password`);
    const typed = { current_password: 'not the password', new_password: NEXT };
    const wrong = await send(shown, { form: 'password', typed });
    expect(wrong.status).toBe(401);
    expect(wrong.text).toContain('That password is not right.');
    expect(wrong.text).not.toContain(NEXT);
    const right = await send(wrong, {
      form: 'password',
      typed: { current_password: PASSWORD, new_password: NEXT },
    });
    expect(right.location).toBe(`${PATH}?done=password`);
    expect((await get(right.location)).text).toContain('Your password was changed.');
    expect((await fixture.refresh(bob.refresh)).status).toBe(401);
  });
});

describe('a second factor', () => {
  const PATH = '/account/security';

  it('people 7 is shown once: a reload shows no secret and makes no other', async () => {
    const bob = await newcomer();
    const { get, send, page } = await signedIn(fixture, bob);
    const asked = await get(`${PATH}?form=enrol_totp`);
    const fields = { form: 'enrol_totp', typed: { name: 'Phone' } };
    const once = await send(asked, fields);
    expect(once.status, once.text).toBe(200);
    const secret = (/class="secret">([^<]+)</.exec(once.text)?.[1] ?? '').replaceAll(' ', '');
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    const reloaded = await send(asked, fields);
    expect(reloaded.status).toBe(409);
    expect(reloaded.text).toContain('This was shown once');
    expect(reloaded.text).not.toContain(secret.slice(0, 4));
    for (const text of [once.headers.get('location'), JSON.stringify([...page.jar.values()])]) {
      expect(text ?? '').not.toContain(secret);
    }

    const wrong = await send(once, { form: 'confirm_totp', typed: { code: '000000' } });
    expect([wrong.status, wrong.text.includes('That code is not right.')]).toEqual([401, true]);
    const code = nextCode(fixture, secret);
    const confirmed = await send(wrong, { form: 'confirm_totp', typed: { code } });
    expect(confirmed.status, confirmed.text).toBe(200);
    expect(confirmed.text).toContain('Your recovery codes');
    expect((confirmed.text.match(/<li>[A-Za-z0-9-]{8,}<\/li>/g) ?? []).length).toBe(10);
    const listed = await get(PATH);
    expect(listed.text).toContain('Phone');
    expect(listed.text).toContain('Left: 10');
  });
});

describe('people 8 a sign-in that is too old', () => {
  const PATH = '/account/security';

  it('is confirmed in the place of the form, and then the form is shown', async () => {
    const bob = await newcomer();
    const { get, send } = await signedIn(fixture, bob);
    fixture.clock.move(STEP_UP_MS);
    const asked = await get(`${PATH}?form=enrol_totp`);
    expect(asked.text).toContain('Confirm that it is you');
    expect(asked.text).not.toContain('name="name"');
    const wrong = await send(asked, { form: 'enrol_totp', typed: { proof_password: 'wrong' } });
    expect([wrong.status, wrong.text.includes('That password is not right.')]).toEqual([401, true]);
    const typed = { proof_password: PASSWORD };
    const right = await send(wrong, { form: 'enrol_totp', typed });
    expect(right.location).toBe(`${PATH}?form=enrol_totp`);
    expect((await get(right.location)).text).toContain('name="name"');
  });

  it('is confirmed with the form where it got too old meanwhile: one press does both', async () => {
    const bob = await newcomer();
    const { get, send } = await signedIn(fixture, bob);
    const asked = await get(`${PATH}?form=enrol_totp`);
    fixture.clock.move(STEP_UP_MS);
    const late = await send(asked, { form: 'enrol_totp', typed: { name: 'My phone' } });
    expect(late.status).toBe(401);
    expect(late.text).toContain('value="My phone"');
    expect(late.text).toContain('name="proof_password"');
    const wrong = await send(late, { form: 'enrol_totp', typed: { proof_password: 'wrong' } });
    expect([wrong.status, wrong.text.includes('value="My phone"')]).toEqual([401, true]);
    const done = await send(wrong, { form: 'enrol_totp', typed: { proof_password: PASSWORD } });
    expect(done.status).toBe(200);
    expect(done.text).toContain('class="secret"');
    // The browser now has a token with the recent confirmation, so the next form does not ask again.
    const next = await get(`${PATH}?form=enrol_totp`);
    expect(next.text).not.toContain('Confirm that it is you');
  });

  it('takes the second factor of whoever has one, and not their password', async () => {
    const bob = await newcomer();
    const { get, send } = await signedIn(fixture, bob);
    const once = await send(await get(`${PATH}?form=enrol_totp`), { form: 'enrol_totp' });
    const secret = (/class="secret">([^<]+)</.exec(once.text)?.[1] ?? '').replaceAll(' ', '');
    const code = nextCode(fixture, secret);
    await send(once, { form: 'confirm_totp', typed: { code } });
    fixture.clock.move(STEP_UP_MS);
    const asked = await get(`${PATH}?form=renew_codes`);
    expect(asked.text).not.toContain('proof_password');
    const forged = { form: 'renew_codes', typed: { proof_password: PASSWORD } };
    expect((await send(asked, forged)).status).toBe(403);
    const proof_code = nextCode(fixture, secret);
    const right = await send(asked, { form: 'renew_codes', typed: { proof_code } });
    expect(right.status, right.text).toBe(303);
    const renewed = await send(await get(right.location), { form: 'renew_codes' });
    expect(renewed.text).toContain('Your recovery codes');
  });
});
