/** On these pages a person changes their address, exports their data, and has the account deleted. */
import { describe, expect, it } from 'vitest';
import { signedIn } from './account-pages-fixture.ts';
import { NEW, newEmail, PRESENT } from './email-change-fixture.ts';
import { oauthOfFile } from './oauth-fixture.ts';

const { fixture, admin } = oauthOfFile();
const newcomer = () => fixture.register(admin.tenantId);

describe('people 10 the address', () => {
  const PATH = '/account/email';

  it('changes once both addresses have confirmed it, and the page says what is missing', async () => {
    const bob = await fixture.registerVerified(admin.tenantId);
    const { get, send } = await signedIn(fixture, bob);
    const email = newEmail();
    const asked = await get(`${PATH}?form=change`);
    const wrong = await send(asked, { form: 'change', typed: { email: 'nobody' } });
    expect([wrong.status, wrong.text.includes('That is not an e-mail address.')]).toEqual([
      400,
      true,
    ]);
    const sent = await send(wrong, { form: 'change', typed: { email } });
    expect(sent.location).toBe(`${PATH}?done=change`);
    const waiting = await get(sent.location);
    expect(waiting.text).toContain(email);
    expect(waiting.text).toContain('the new address, the present address');
    const guess = await send(waiting, { form: 'verify', typed: { code: 'AAAA-AAAA' } });
    expect([guess.status, guess.text.includes('AAAA-AAAA')]).toEqual([401, false]);
    const present = await fixture.mail(bob.email, PRESENT);
    const half = await send(guess, { form: 'verify', typed: { code: present.code } });
    expect(half.location).toBe(`${PATH}?done=verify`);
    expect((await get(half.location)).text).not.toContain('the present address');
    const { code } = await fixture.mail(email, NEW);
    const done = await send(await get(PATH), { form: 'verify', typed: { code } });
    const after = await get(done.location);
    expect(after.text).toContain(email);
    expect(after.text).not.toContain('A change waits');
  });

  it('stays where the person stops the change, and is confirmed by a mail that is sent again', async () => {
    const bob = await newcomer();
    const { get, send, press } = await signedIn(fixture, bob);
    const resent = await press(PATH, { form: 'resend' });
    expect(resent.location).toBe(`${PATH}?done=resend`);
    const email = newEmail();
    const asked = await get(`${PATH}?form=change`);
    await send(asked, { form: 'change', typed: { email } });
    const stopped = await send(await get(PATH), { form: 'stop' });
    const after = await get(stopped.location);
    expect(after.text).toContain('Your address stays as it is.');
    expect(after.text).not.toContain(email);
  });
});

describe('people 10 the data', () => {
  const PATH = '/account/data';

  it('come as a file, five times a day', async () => {
    const bob = await newcomer();
    const { get, send } = await signedIn(fixture, bob);
    const shown = await get(PATH);
    // People are led to pages, and are shown no paths of the API.
    expect(shown.text).not.toContain('/api/v1/me/');
    for (const page of ['decisions', 'grants', 'activity']) {
      expect(shown.text).toContain(`<a href="/account/${page}">`);
    }
    const file = await send(shown, { form: 'export' });
    expect([file.status, file.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(file.headers.get('content-disposition')).toBe('attachment; filename="account.json"');
    expect(file.headers.get('cache-control')).toBe('no-store');
    expect(JSON.parse(file.text).profile.email).toBe(bob.email);
    for (let again = 0; again < 4; again += 1) {
      expect((await send(shown, { form: 'export' })).status).toBe(200);
    }
    const refused = await send(shown, { form: 'export' });
    expect([refused.status, refused.text.includes('Too many attempts. Try again in')]).toEqual([
      429,
      true,
    ]);
  });

  it('go with the account, after its address was typed and until the person keeps it', async () => {
    const bob = await newcomer();
    await fixture.logIn(bob);
    const { get, send } = await signedIn(fixture, bob);
    const asked = await get(`${PATH}?form=delete`);
    expect(asked.text).toContain('<dt>Other devices that are signed out</dt><dd>2</dd>');
    expect(asked.text).toContain(`To confirm, type: ${bob.email}`);
    const wrong = await send(asked, { form: 'delete', typed: { confirmed_by: 'ann' } });
    expect(wrong.status).toBe(400);
    expect(wrong.text).toContain('What you have typed is not the same.');
    expect(wrong.text).toMatch(/name="confirmed_by"[^>]*aria-invalid="true"[^>]*value="ann"/);
    const typed = { confirmed_by: ` ${bob.email.toUpperCase()} ` };
    const done = await send(wrong, { form: 'delete', typed });
    expect(done.location).toBe(`${PATH}?done=delete`);
    const waits = await get(done.location);
    expect(waits.text).toMatch(/Your account is deleted on \d{4}-\d\d-\d\d \d\d:\d\d UTC\./);
    expect((await get('/account')).text).toContain('Your account is deleted on');
    expect((await fixture.refresh(bob.refresh)).status).toBe(401);
    const kept = await send(waits, { form: 'keep' });
    expect((await get(kept.location)).text).toContain('Your account stays.');
  });

  it('stay where the tenant lets nobody delete their account', async () => {
    const path = `/api/v1/admin/tenants/${admin.tenantId}`;
    const change = async (allowed: boolean) => {
      const again = fixture.as(await fixture.signInAgain(admin));
      const body = { settings: { account_deletion: { allowed } } };
      expect((await again.patch(path, body)).status).toBe(200);
    };
    const { get } = await signedIn(fixture, await newcomer());
    await change(false);
    const shown = await get(PATH);
    await change(true);
    expect(shown.text).toContain('does not let people delete their accounts');
    expect(shown.text).not.toContain('form=delete');
  });
});
