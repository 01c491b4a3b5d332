/** People change their address: both addresses prove it by mail, and only one account gets it. */
import { armFailPoints, parseFailPoints } from '@cardea/runtime';
import { untilTrue } from '@cardea/testing';
import { afterEach, describe, expect, it } from 'vitest';
import {
  codeOf,
  DAY_MS,
  EMAIL,
  emailChangesOf,
  MINUTE_MS,
  NEW,
  newEmail,
  PRESENT,
  statusOf,
  VERIFY,
} from './email-change-fixture.ts';
import { type Account, identityOfFile, PASSWORD } from './identity-fixture.ts';

const ofFile = identityOfFile({ RATE_LIMIT_FACTOR: '10000' });
const { fixture, admin: ann } = ofFile;
const { ask, asAdmin, emailOf, holdersOf, newcomer, press, registering, subjectsTo, typesOf } =
  emailChangesOf(ofFile);
afterEach(() => armFailPoints([]));

describe('identity 28 a person who changes their address', () => {
  it.each([
    ['the new one first', [NEW, PRESENT]],
    ['the present one first', [PRESENT, NEW]],
  ])('has it once both addresses have proven it, %s, in any browser', async (_, order) => {
    const bob = await newcomer();
    const email = newEmail();
    const asked = await ask(bob, email.toUpperCase());
    expect(asked.body).toEqual({ status: 'confirmation sent', expires_at: expect.any(String) });
    expect(asked.status).toBe(202);
    expect((await emailOf(bob)).change).toMatchObject({ email, missing: ['new', 'present'] });
    const tokens = await Promise.all(
      order.map(
        async (about) => (await fixture.mail(about === NEW ? email : bob.email, about)).token,
      ),
    );
    expect(statusOf(await press(tokens[0] ?? ''))).toBe('200 proof kept');
    expect((await fixture.logIn(bob)).status).toBe(200);
    expect(statusOf(await press(tokens[1] ?? ''))).toBe('200 email changed');
    // Using either link again does nothing.
    for (const token of tokens) expect(codeOf(await press(token))).toBe('401 invalid_link');
    expect(await emailOf(bob)).toMatchObject({ email, email_verified: true, change: null });
    expect(codeOf(await fixture.logIn(bob))).toBe('401 invalid_credentials');
    expect((await fixture.logIn({ ...bob, email })).status).toBe(200);
  });

  it('keeps the session that asked, loses all others, and what was mailed before', async () => {
    const bob = await newcomer();
    const other = await fixture.signInAgain(bob);
    await fixture.rest.post(
      '/api/v1/auth/forgot-password',
      { email: bob.email },
      { tenant: bob.tenantId },
    );
    const reset = await fixture.mail(bob.email, /password/i);
    const email = newEmail();
    await ask(bob, email);
    await press((await fixture.mail(email, NEW)).token);
    await press((await fixture.mail(bob.email, PRESENT)).token);
    expect((await fixture.refresh(bob.refresh)).status).toBe(200);
    expect(codeOf(await fixture.refresh(other.refresh))).toBe('401 invalid_refresh_token');
    const body = { token: reset.token, new_password: 'another password' };
    expect(codeOf(await fixture.rest.post('/api/v1/auth/reset-password', body))).toBe(
      '401 invalid_reset_token',
    );
    await untilTrue(
      async () => {
        const [left, taken] = [await subjectsTo(bob.email), await subjectsTo(email)];
        return (
          left.some((subject) => /has another address/.test(subject)) &&
          taken.some((subject) => /now the address/.test(subject))
        );
      },
      { what: 'notices to both' },
    );
  });

  it('types the codes where they are signed in, and nobody else can', async () => {
    const [bob, eva] = [await newcomer(), await newcomer()];
    const email = newEmail();
    await ask(bob, email);
    const codes = await Promise.all(
      [NEW, PRESENT].map((about) => fixture.mail(about === NEW ? email : bob.email, about)),
    );
    const [first, second] = codes.map(({ code }) => code);
    expect(codeOf(await fixture.rest.post(VERIFY, { code: first }))).toBe('401 invalid_code');
    expect(codeOf(await fixture.as(eva).post(VERIFY, { code: first }))).toBe('401 invalid_code');
    expect(statusOf(await fixture.as(bob).post(VERIFY, { code: first }))).toBe('200 proof kept');
    expect(codeOf(await fixture.as(bob).post(VERIFY, { code: first }))).toBe('401 invalid_code');
    const typed = { code: second?.toLowerCase().replace('-', ' ') };
    expect(statusOf(await fixture.as(bob).post('/api/v1/user/email/verify', typed))).toBe(
      '200 email changed',
    );
  });

  it('can guess no code, and asks five times a day', async () => {
    const bob = await newcomer();
    const me = fixture.as(bob);
    for (let asked = 0; asked < 5; asked += 1)
      expect((await ask(bob, newEmail())).status).toBe(202);
    expect(codeOf(await ask(bob, newEmail()))).toBe('429 rate_limited');
    const guesses: string[] = [];
    for (let guess = 0; guess < 11; guess += 1) {
      guesses.push(codeOf(await me.post(VERIFY, { code: `0000-00${10 + guess}` })));
    }
    expect(guesses.slice(0, 10)).toEqual(Array(10).fill('401 invalid_code'));
    expect(guesses.at(-1)).toBe('429 rate_limited');
  });

  it('stops it, or asks anew, which voids the links of before', async () => {
    const bob = await newcomer();
    const [one, two] = [newEmail(), newEmail()];
    await ask(bob, one);
    const old = (await fixture.mail(one, NEW)).token;
    await ask(bob, two);
    expect(codeOf(await press(old))).toBe('401 invalid_link');
    const later = (await fixture.mail(two, NEW)).token;
    expect(statusOf(await fixture.as(bob).delete(EMAIL))).toBe('200 email change stopped');
    expect(codeOf(await press(later))).toBe('401 invalid_link');
    expect((await emailOf(bob)).change).toBeNull();
    expect(statusOf(await fixture.as(bob).delete(EMAIL))).toBe('200 email change stopped');
  });

  it.each([
    [
      'a new password elsewhere',
      async (bob: Account) => {
        const other = await fixture.signInAgain(bob);
        const body = { current_password: PASSWORD, new_password: 'another password' };
        await fixture.as(other).post('/api/v1/user/change-password', body);
      },
    ],
    [
      'an administrator who disables them',
      async (bob: Account) => {
        const by = await asAdmin();
        await by.patch(`/api/v1/admin/users/${bob.userId}`, { status: 'disabled' });
      },
    ],
    [
      'their deletion',
      async (bob: Account) => {
        const by = await asAdmin();
        await by.delete(`/api/v1/admin/users/${bob.userId}`);
      },
    ],
  ])('P3 loses the change by %s', async (_, end) => {
    const bob = await newcomer();
    const email = newEmail();
    await ask(bob, email);
    const tokens = [
      (await fixture.mail(email, NEW)).token,
      (await fixture.mail(bob.email, PRESENT)).token,
    ];
    expect(statusOf(await press(tokens[0] ?? ''))).toBe('200 proof kept');
    await end(bob);
    expect(codeOf(await press(tokens[1] ?? ''))).toBe('401 invalid_link');
    expect(await typesOf(bob)).not.toContain('EmailChanged');
    expect((await registering(email)).status).toBe(201);
    expect((await fixture.logIn({ ...bob, email })).status).toBe(200);
  });

  it('needs a recent sign-in, and an old link is refused', async () => {
    const bob = await newcomer();
    const email = newEmail();
    await ask(bob, email);
    const { token } = await fixture.mail(email, NEW);
    fixture.clock.move(11 * MINUTE_MS);
    expect(codeOf(await ask(bob, newEmail()))).toBe('401 step_up_required');
    fixture.clock.move(DAY_MS);
    expect(codeOf(await press(token))).toBe('410 link_expired');
  });
});

describe('identity 28 an address that somebody has', () => {
  it('is answered like any other, and its mail says that somebody wanted to move there', async () => {
    const [bob, eva] = [await newcomer(), await newcomer()];
    const free = newEmail();
    const answers = [await ask(bob, eva.email), await ask(bob, free)];
    const shapes = answers.map(({ status, body }) => [status, Object.keys(body), body.status]);
    expect(shapes[0]).toEqual(shapes[1]);
    const about = /Somebody wanted to move to this address/;
    const other = await newcomer();
    await ask(other, eva.email);
    const { text, link } = await fixture.mail(eva.email, about);
    expect(link).toBeNull();
    expect(text).not.toMatch(/token=|[0-9A-Z]{4}-[0-9A-Z]{4}/);
    const rows = await fixture.as(other).get(EMAIL);
    expect(rows.body.change.missing).toEqual(['new', 'present']);
  });

  it('goes to one of many who prove it at once, and to nobody beside an invitation or a registration', async () => {
    const email = newEmail();
    const all = await Promise.all(Array.from({ length: 3 }, newcomer));
    const tokens: string[] = [];
    for (const each of all) {
      await ask(each, email);
      const { token } = await fixture.mail(each.email, PRESENT);
      expect(statusOf(await press(token))).toBe('200 proof kept');
    }
    await untilTrue(async () => (await subjectsTo(email)).length >= all.length, { what: 'mails' });
    const { body } = await fixture.rest.get('/dev/mailbox', { query: { to: email } });
    for (const { link } of body.messages) tokens.push(String(link).split('#token=')[1] ?? '');
    const answers = await Promise.all([
      ...tokens.flatMap((token) => Array.from({ length: 10 }, () => press(token))),
      registering(email),
    ]);
    const changed = answers.filter((answer) => statusOf(answer) === '200 email changed');
    expect(changed.length).toBeLessThanOrEqual(1);
    await untilTrue(async () => (await holdersOf(email)).length > 0, { what: 'its holder' });
    expect(await holdersOf(email)).toHaveLength(1);
    expect(answers.every(({ status }) => status < 500)).toBe(true);
  });

  it('P5 is taken from whoever registered it and never proved it, and from nobody whom an administrator made', async () => {
    const squatter = await fixture.register(ann.tenantId);
    const bob = await newcomer();
    await ask(bob, squatter.email);
    await press((await fixture.mail(squatter.email, NEW)).token);
    expect(statusOf(await press((await fixture.mail(bob.email, PRESENT)).token))).toBe(
      '200 email changed',
    );
    expect(await holdersOf(squatter.email)).toEqual([bob.userId]);
    const made = newEmail();
    await (await asAdmin()).post('/api/v1/admin/users', { email: made });
    const dan = await newcomer();
    await ask(dan, made);
    await fixture.mail(made, /Somebody wanted to move/);
  });

  it('refuses the last proof where it was taken meanwhile', async () => {
    const bob = await newcomer();
    const email = newEmail();
    await ask(bob, email);
    const tokens = [
      (await fixture.mail(email, NEW)).token,
      (await fixture.mail(bob.email, PRESENT)).token,
    ];
    await press(tokens[0] ?? '');
    await registering(email);
    const eva = await fixture.signInAgain({ ...bob, email });
    const { token } = await fixture.mail(email, /Confirm your e-mail/);
    await fixture.as(eva).post('/api/v1/auth/verify-email', { token });
    expect(codeOf(await press(tokens[1] ?? ''))).toBe('409 email_already_exists');
    expect((await emailOf(bob)).change).toBeNull();
  });
});

describe('identity 28 a change that was killed after its address was reserved', () => {
  it('is completed without anybody asking, and the address is never lost', async () => {
    const bob = await newcomer();
    const email = newEmail();
    await ask(bob, email);
    await press((await fixture.mail(email, NEW)).token);
    const { token } = await fixture.mail(bob.email, PRESENT);
    armFailPoints(parseFailPoints('email.after_reserve=throw@1') ?? []);
    const answer = await press(token);
    expect([200, 500]).toContain(answer.status);
    await untilTrue(async () => (await emailOf(bob)).email === email, { what: 'the change' });
    expect(await holdersOf(email)).toEqual([bob.userId]);
    expect((await fixture.logIn({ ...bob, email })).status).toBe(200);
  });
});
