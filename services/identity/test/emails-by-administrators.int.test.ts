/** An administrator changes a user's address: limited by rank, at once, with a notice to both addresses. */
import { armFailPoints, parseFailPoints } from '@cardea/runtime';
import { untilTrue } from '@cardea/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { type Account, identityOfFile, PASSWORD } from './identity-fixture.ts';

const USERS = '/api/v1/admin/users';
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 3600_000;

const { fixture, admin: ann } = identityOfFile({ RATE_LIMIT_FACTOR: '10000' });
afterEach(() => armFailPoints([]));

let count = 0;
const newEmail = () => {
  count += 1;
  return `moved.${count}@example.com`;
};
const told = ({ status, code }: { status: number; code: string | undefined }) =>
  code === undefined ? `${status}` : `${status} ${code}`;
const pathOf = ({ userId }: Pick<Account, 'userId'>) => `${USERS}/${userId}`;
const change = async (of: Account, body: object, by: Account = ann) =>
  fixture.as(await fixture.signInAgain(by)).patch(pathOf(of), body);
const registering = (email: string) =>
  fixture.rest.post(
    '/api/v1/auth/register',
    { email, password: PASSWORD, display_name: 'Somebody' },
    { tenant: ann.tenantId },
  );
const subjectsTo = async (to: string): Promise<readonly string[]> => {
  const { body } = await fixture.rest.get('/dev/mailbox', { query: { to } });
  return body.messages.map(({ subject }: { subject: string }) => subject);
};
const toldBy = (to: string, about: RegExp) =>
  untilTrue(async () => (await subjectsTo(to)).some((subject) => about.test(subject)), {
    what: `mail to ${to} about ${about}`,
  });
const types = async ({ userId }: Account) =>
  (await fixture.host.needsOf('identity').store.readStream(`user-${userId}`)).map(
    ({ type }) => type,
  );

async function administrator(roles: readonly string[]): Promise<Account> {
  const email = newEmail();
  const body = { email, password: PASSWORD, roles, email_verified: true };
  const made = await fixture.as(await fixture.signInAgain(ann)).post(USERS, body);
  const account = { tenantId: ann.tenantId, userId: made.body.id, email };
  return fixture.signInAgain({ ...account, access: '', refresh: '' });
}

describe('identity 30 an administrator who changes an address', () => {
  it('moves sign-in and mail to the new one at once, and ends sessions and links of before', async () => {
    const bob = await fixture.registerVerified(ann.tenantId);
    await fixture.rest.post(
      '/api/v1/auth/forgot-password',
      { email: bob.email },
      { tenant: bob.tenantId },
    );
    const { token } = await fixture.mail(bob.email, /password/i);
    const email = newEmail();
    const position = await fixture.head();
    const done = await change(bob, { email, email_verified: true });
    expect([done.status, done.body.email, done.body.email_verified]).toEqual([200, email, true]);
    expect(told(await fixture.logIn(bob))).toBe('401 invalid_credentials');
    const moved = { ...bob, email };
    expect((await fixture.logIn(moved)).status).toBe(200);
    expect(told(await fixture.refresh(bob.refresh))).toBe('401 invalid_refresh_token');
    const reset = { token, new_password: 'another password' };
    expect(told(await fixture.rest.post('/api/v1/auth/reset-password', reset))).toBe(
      '401 invalid_reset_token',
    );
    const listed = await fixture
      .as(await fixture.signInAgain(ann))
      .get(USERS, { query: { email } });
    expect(listed.body.users).toMatchObject([{ id: bob.userId, email_verified: true }]);
    const relayed = (await fixture.eventsSince(position)).filter(
      ({ type }) => type === 'EmailChanged',
    );
    expect(relayed).toHaveLength(1);
    expect(JSON.stringify(relayed.map(({ data }) => data))).not.toContain(email);
  });

  it('lets both be told, and has the new one confirmed unless it is known', async () => {
    const bob = await fixture.registerVerified(ann.tenantId);
    const email = newEmail();
    expect((await change(bob, { email })).body.email_verified).toBe(false);
    await toldBy(bob.email, /Security notice: your account has another address/);
    await toldBy(email, /Security notice: this is now the address/);
    const { token } = await fixture.mail(email, /Confirm/);
    const moved = await fixture.signInAgain({ ...bob, email });
    const proven = await fixture.as(moved).post('/api/v1/auth/verify-email', { token });
    expect(proven.status).toBe(200);
    const { body } = await fixture.as(moved).get('/api/v1/user/profile');
    expect(body).toMatchObject({ email, email_verified: true });
    expect(await types(bob)).not.toContain('AccountReclaimed');
  });

  it('is refused by rank, without a recent sign-in, for a key and for an impersonator', async () => {
    const bob = await fixture.registerVerified(ann.tenantId);
    const plain = await administrator(['admin']);
    const email = newEmail();
    expect(told(await change(ann, { email }, plain))).toBe('403 forbidden');
    const old = await fixture.signInAgain(ann);
    const as = fixture.as(old);
    const made = await as.post('/api/v1/api-keys', { name: 'key', scopes: ['users:write'] });
    const key = fixture.rest.as({ bearer: made.body.key, tenant: ann.tenantId });
    expect(told(await key.patch(pathOf(bob), { email }))).toBe('403 forbidden');
    const acting = await as.post(`${pathOf(bob)}/impersonate`, { reason: 'ticket' });
    const impersonator = fixture.as({ ...bob, access: acting.body.access_token });
    expect((await impersonator.patch(pathOf(bob), { email })).status).toBe(403);
    fixture.clock.move(11 * MINUTE_MS);
    expect(told(await as.patch(pathOf(bob), { email }))).toBe('401 step_up_required');
    expect(await types(bob)).not.toContain('EmailChanged');
    // Nothing was reserved, so the address can still be registered.
    expect((await registering(email)).status).toBe(201);
    expect((await fixture.logIn({ ...bob, email })).status).toBe(200);
  });

  it('is refused for an address that somebody has, and for no address', async () => {
    const [bob, eva] = [await fixture.register(ann.tenantId), await fixture.register(ann.tenantId)];
    expect(told(await change(bob, { email: eva.email.toUpperCase() }))).toBe(
      '409 email_already_exists',
    );
    expect(told(await change(bob, { email: 'nobody' }))).toBe('400 invalid_email');
    expect(told(await change(bob, { email_verified: true }))).toBe('400 invalid_request');
    expect((await change(bob, { email: bob.email })).status).toBe(200);
    expect(await types(bob)).not.toContain('EmailChanged');
  });

  it('goes with other changes as one decision', async () => {
    const bob = await fixture.registerVerified(ann.tenantId);
    const email = newEmail();
    const unproven = await change(bob, { email, roles: ['admin'] });
    expect(told(unproven)).toBe('409 email_not_verified');
    const body = { email, email_verified: true, display_name: 'Bob', status: 'disabled' };
    const done = await change(bob, body);
    expect(done.body).toMatchObject({ email, display_name: 'Bob', status: 'disabled' });
    expect((await types(bob)).slice(-3)).toEqual([
      'ProfileChanged',
      'EmailChanged',
      'UserDisabled',
    ]);
  });

  it('is one of fifty who want the address at once', async () => {
    const email = newEmail();
    const all = await Promise.all(
      Array.from({ length: 10 }, () => fixture.registerVerified(ann.tenantId)),
    );
    const by = fixture.as(await fixture.signInAgain(ann));
    const asked = Array.from({ length: 50 }, (_, at) => all[at % all.length] as Account);
    const answers = await Promise.all(
      asked.map((each) => by.patch(pathOf(each), { email, email_verified: true })),
    );
    const done = new Set(answers.filter(({ status }) => status === 200).map(({ body }) => body.id));
    expect(done.size).toBe(1);
    const refused = answers.filter(({ status }) => status !== 200).map(told);
    expect(new Set(refused)).toEqual(new Set(['409 email_already_exists']));
    const { body } = await by.get(USERS, { query: { email } });
    expect(body.users.map(({ id }: { id: string }) => id)).toEqual([...done]);
  });
});

describe('identity 30 an address that an account has left', () => {
  it('is nobody else’s for seven days, and free after them', async () => {
    const bob = await fixture.registerVerified(ann.tenantId);
    await change(bob, { email: newEmail(), email_verified: true });
    await registering(bob.email);
    expect(told(await fixture.logIn(bob))).toBe('401 invalid_credentials');
    fixture.clock.move(7 * DAY_MS + MINUTE_MS);
    await untilTrue(async () => (await types(bob)).includes('EmailReleased'), {
      what: 'its release',
    });
    await untilTrue(
      async () => {
        await registering(bob.email);
        return (await fixture.logIn(bob)).status === 200;
      },
      { what: 'somebody else who has it' },
    );
    expect((await fixture.logIn(bob)).body.user_id).not.toBe(bob.userId);
  });

  it('can be taken back within them', async () => {
    const bob = await fixture.registerVerified(ann.tenantId);
    await change(bob, { email: newEmail(), email_verified: true });
    const back = await change(bob, { email: bob.email, email_verified: true });
    expect([back.status, back.body.email]).toEqual([200, bob.email]);
    fixture.clock.move(7 * DAY_MS + MINUTE_MS);
    await untilTrue(async () => (await types(bob)).includes('EmailReleased'), {
      what: 'the release of the other one',
    });
    await registering(bob.email);
    expect((await fixture.logIn(bob)).body.user_id).toBe(bob.userId);
  });

  it('is free with the account', async () => {
    const bob = await fixture.registerVerified(ann.tenantId);
    await change(bob, { email: newEmail(), email_verified: true });
    await fixture.as(await fixture.signInAgain(ann)).delete(pathOf(bob));
    await registering(bob.email);
    expect((await fixture.logIn(bob)).status).toBe(200);
  });
});

describe('identity 28 an address that was reserved for a change that never came', () => {
  it('is found by nobody, and another person’s after a minute', async () => {
    const bob = await fixture.registerVerified(ann.tenantId);
    const email = newEmail();
    armFailPoints(parseFailPoints('email.after_reserve=throw@1') ?? []);
    expect((await change(bob, { email, email_verified: true })).status).toBe(500);
    expect(await types(bob)).not.toContain('EmailChanged');
    expect((await fixture.logIn(bob)).status).toBe(200);
    expect(told(await fixture.logIn({ ...bob, email }))).toBe('401 invalid_credentials');
    fixture.clock.move(MINUTE_MS);
    await registering(email);
    const { body } = await fixture.logIn({ ...bob, email });
    expect(body.user_id).not.toBe(bob.userId);
    expect(told(await change(bob, { email, email_verified: true }))).toBe(
      '409 email_already_exists',
    );
  });

  it('is the account’s where the administrator asks again', async () => {
    const bob = await fixture.registerVerified(ann.tenantId);
    const email = newEmail();
    armFailPoints(parseFailPoints('email.after_reserve=throw@1') ?? []);
    expect((await change(bob, { email, email_verified: true })).status).toBe(500);
    expect((await change(bob, { email, email_verified: true })).body.email).toBe(email);
  });
});
