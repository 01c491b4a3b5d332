/** What administrators do with accounts: import, unlock, reset, end sessions, impersonate. */
import { untilTrue } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { claimsOf, identityOfFile, PASSWORD } from './identity-fixture.ts';

const USERS = '/api/v1/admin/users';
const MINUTE_MS = 60_000;
/** Hashes of the password `correct horse` that other programs made. */
const HASHES = {
  bcrypt: '$2b$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e',
  scrypt:
    '$scrypt$ln=10,r=8,p=1$YSBzYWx0IG9mIDE2IGJ5Lg$1HNPdQyNQXa9uLR2/rwXkXo+qLWEusqxyJLxaJEReyk',
  pbkdf2:
    '$pbkdf2-sha256$i=1000,l=32$YSBzYWx0IG9mIDE2IGJ5Lg$avHn/SoZ2Ear7syjsCH+3HGkT2HSKAa6dDbNEwbqK3o',
};
const IMPORTED = 'correct horse';

const { fixture, admin: ann } = identityOfFile({ RATE_LIMIT_FACTOR: '10000' });

let count = 0;
const newEmail = () => {
  count += 1;
  return `person.${count}@example.com`;
};
const told = ({ status, code }: { status: number; code: string | undefined }) =>
  code === undefined ? `${status}` : `${status} ${code}`;
const admin = () => fixture.as(ann);
const pathOf = (id: string, verb = '') => `${USERS}/${id}${verb}`;
const importing = (users: readonly object[], headers?: { readonly [name: string]: string }) =>
  admin().post(`${USERS}/import`, { users }, headers === undefined ? {} : { headers });
const keyWith = async (...scopes: readonly string[]) => {
  const made = await admin().post('/api/v1/api-keys', { name: 'key', scopes });
  return fixture.rest.as({ bearer: made.body.key, tenant: ann.tenantId });
};
const boss = async () => {
  const email = newEmail();
  const made = await admin().post(USERS, { email, password: PASSWORD, roles: ['owner', 'admin'] });
  return { id: made.body.id as string, email };
};
const plainAdmin = async () => {
  const email = newEmail();
  await admin().post(USERS, { email, password: PASSWORD, roles: ['admin'] });
  const { body } = await fixture.logIn({ tenantId: ann.tenantId, email });
  return fixture.rest.as({ bearer: body.access_token, tenant: ann.tenantId });
};

describe('importing', () => {
  it.each(Object.entries(HASHES))(
    'lets people sign in with a hash of %s, which is replaced',
    async (_, hash) => {
      const email = newEmail();
      const done = await importing([{ email, password_hash: hash, display_name: 'Moved' }]);
      expect([done.status, done.body]).toEqual([200, { imported: 1, failed: [] }]);
      const person = { tenantId: ann.tenantId, email };
      expect(told(await fixture.logIn(person, 'wrong horse'))).toBe('401 invalid_credentials');
      const entered = await fixture.logIn(person, IMPORTED);
      expect(entered.status).toBe(200);
      const { store } = fixture.host.needsOf('identity');
      const types = (await store.readStream(`user-${entered.body.user_id}`)).map(
        ({ type }) => type,
      );
      expect(types).toEqual(['UserRegistered', 'PasswordSet', 'PasswordRehashed']);
      expect((await fixture.logIn(person, IMPORTED)).status).toBe(200);
      const again = (await store.readStream(`user-${entered.body.user_id}`)).length;
      expect(again).toBe(types.length);
      const shown = await admin().get(pathOf(entered.body.user_id));
      expect(shown.body).toMatchObject({ email, display_name: 'Moved', vouched: true });
    },
  );

  it('says of each that it refuses which it was and why, and takes the others', async () => {
    const twice = newEmail();
    const done = await importing([
      { email: twice },
      { email: twice.toUpperCase() },
      { email: ann.email },
      { email: 'nobody' },
      { email: newEmail(), roles: ['pope'] },
      { email: newEmail(), roles: ['system_admin'] },
      { email: newEmail(), password_hash: 'secret' },
      { email: newEmail() },
    ]);
    expect(done.body).toEqual({
      imported: 2,
      failed: [
        { index: 1, code: 'email_already_exists' },
        { index: 2, code: 'email_already_exists' },
        { index: 3, code: 'invalid_email' },
        { index: 4, code: 'unknown_role' },
        { index: 5, code: 'forbidden' },
        { index: 6, code: 'unsupported_hash' },
      ],
    });
    const many = Array.from({ length: 101 }, () => ({ email: newEmail() }));
    expect(told(await importing(many))).toBe('400 invalid_request');
    expect((await importing(many.slice(1))).body).toEqual({ imported: 100, failed: [] });
  });

  it('is done once under one Idempotency-Key', async () => {
    const users = [{ email: newEmail() }, { email: newEmail() }];
    const key = { 'idempotency-key': 'a move' };
    expect((await importing(users, key)).body).toEqual({ imported: 2, failed: [] });
    expect((await importing(users, key)).body).toEqual({ imported: 2, failed: [] });
    const other = await importing([{ email: newEmail() }], key);
    expect(told(other)).toBe('422 idempotency_key_reused');
  });

  it('by an API key makes members for whom nobody vouches', async () => {
    const key = await keyWith('users:write');
    const email = newEmail();
    const users = [{ email }, { email: newEmail(), roles: ['admin'] }];
    const done = await key.post(`${USERS}/import`, { users });
    expect(done.body).toEqual({ imported: 1, failed: [{ index: 1, code: 'forbidden' }] });
    const { body } = await admin().get(USERS, { query: { email } });
    expect(body.users[0]).toMatchObject({ roles: ['member'], vouched: false });
  });
});

describe('somebody who is locked out', () => {
  it('is shown as locked until an administrator’s token unlocks them, no key', async () => {
    const bob = await fixture.register(ann.tenantId);
    for (let miss = 0; miss < 10; miss += 1) await fixture.logIn(bob, 'wrong password');
    expect(told(await fixture.logIn(bob))).toBe('429 too_many_attempts');
    const status = async () => (await admin().get(pathOf(bob.userId))).body.status;
    await untilTrue(async () => (await status()) === 'locked', { what: 'the table shows it' });
    const listed = async (of: string) =>
      (await admin().get(USERS, { query: { status: of, email: bob.email } })).body.total;
    expect([await listed('locked'), await listed('active')]).toEqual([1, 0]);
    const key = await keyWith('users:read', 'users:write');
    expect((await key.post(pathOf(bob.userId, '/unlock'), {})).status).toBe(403);
    const done = await admin().post(pathOf(bob.userId, '/unlock'), {});
    expect([done.status, done.body]).toEqual([200, { status: 'unlocked' }]);
    expect(await status()).toBe('active');
    expect((await fixture.logIn(bob)).status).toBe(200);
    expect(told(await admin().post(pathOf('nobody', '/unlock'), {}))).toBe('404 not_found');
  });
});

describe('somebody at whom others guess from many networks', () => {
  it('P7 is told by mail, shown to administrators, and opens the block by a mailed code', async () => {
    const bob = await fixture.registerVerified(ann.tenantId);
    const position = await fixture.head();
    await fixture.logIn(bob, 'wrong password');
    const [first] = (await fixture.eventsSince(position)).filter(
      ({ type }) => type === 'SignInFailed',
    );
    const emailHash = String(first?.streamId).replace('signin-', '');
    const { streams, systemCommand } = fixture.host.needsOf('identity');
    const { recordFailure } = await import('../src/authentication/attempts/lockout.ts');
    const { signins } = await import('../src/streams/signin.ts');
    const now = fixture.clock.now();
    const guess = { userId: bob.userId, method: 'password', now } as const;
    for (let network = 0; network < 99; network += 1) {
      const failure = {
        ...guess,
        prefix: `bot ${network}`,
        reason: 'invalid_credentials',
      } as const;
      const command = systemCommand(ann.tenantId, 'guess', bob.userId, String(network));
      await streams.decideOn(signins, emailHash, command, (signin) =>
        recordFailure(failure, signin),
      );
    }
    expect(told(await fixture.logIn(bob))).toBe('429 too_many_attempts');
    await fixture.mail(bob.email, /blocked for a while/);
    const events = await fixture.eventsSince(position);
    const blocks = events.filter(({ data }) => data['reason'] === 'blocked');
    expect(blocks).toHaveLength(1);
    const tenant = ann.tenantId;
    await fixture.rest.post('/api/v1/auth/otp/send', { email: bob.email }, { tenant });
    const { code } = (await fixture.mail(bob.email, /code/)) as unknown as { code: string };
    const opened = await fixture.rest.post('/api/v1/auth/otp/verify', { code }, { tenant });
    expect(opened.status).toBe(200);
    expect((await fixture.logIn(bob)).status).toBe(200);
  });
});

describe('an administrator', () => {
  it('ends all sessions of somebody, and not of those above', async () => {
    const bob = await fixture.register(ann.tenantId);
    await fixture.logIn(bob);
    const done = await admin().post(pathOf(bob.userId, '/revoke-sessions'), {});
    expect([done.status, done.body]).toEqual([200, { revoked: 2 }]);
    expect(told(await fixture.refresh(bob.refresh))).toBe('401 invalid_refresh_token');
    const key = await keyWith('users:write');
    expect((await key.post(pathOf(bob.userId, '/revoke-sessions'), {})).body).toEqual({
      revoked: 0,
    });
    const { id } = await boss();
    const plain = await plainAdmin();
    for (const verb of ['/revoke-sessions', '/reset-password', '/unlock']) {
      expect(told(await plain.post(pathOf(id, verb), {}))).toBe('403 forbidden');
      expect(told(await key.post(pathOf(id, verb), {}))).toBe('403 forbidden');
    }
  });

  it('has a link to a new password mailed, which changes nothing until it is used', async () => {
    const bob = await fixture.register(ann.tenantId);
    const reset = () => admin().post(pathOf(bob.userId, '/reset-password'), {});
    expect((await reset()).body).toEqual({ status: 'mail requested' });
    expect((await fixture.logIn(bob)).status).toBe(200);
    const { token } = await fixture.mail(bob.email, /new password/i);
    const body = { token, new_password: 'another password' };
    expect((await fixture.rest.post('/api/v1/auth/reset-password', body)).status).toBe(200);
    expect((await fixture.logIn(bob, 'another password')).status).toBe(200);
    await admin().patch(pathOf(bob.userId), { status: 'disabled' });
    expect(told(await reset())).toBe('409 user_inactive');
  });

  it('has an invitation mailed again to whoever lost it', async () => {
    const email = newEmail();
    const made = await admin().post(USERS, { email, send_invitation: true });
    const first = (await fixture.mail(email)).token;
    await admin().post(pathOf(made.body.id, '/reset-password'), {});
    const second = await untilTrue(
      async () => {
        const { token } = await fixture.mail(email);
        return token === first ? undefined : token;
      },
      { what: 'the second mail' },
    );
    const accept = (token: string) =>
      fixture.rest.post('/api/v1/auth/invitations/accept', { token, password: PASSWORD });
    expect(told(await accept(first))).toBe('401 invalid_invitation');
    expect((await accept(second)).status).toBe(200);
  });

  it('identity 13 acts as a member after a recent sign-in, named in the token, and as nobody else', async () => {
    const bob = await fixture.register(ann.tenantId);
    const act = (id: string, by = admin()) =>
      by.post(pathOf(id, '/impersonate'), { reason: 'ticket 4711' });
    const acting = await act(bob.userId);
    expect([acting.status, acting.body.expires_in]).toEqual([201, 600]);
    const claims = claimsOf(acting.body.access_token);
    expect(claims).toMatchObject({ sub: bob.userId, act: { sub: ann.userId }, roles: ['member'] });
    expect([claims.exp - claims.iat, claims.auth_time, claims.sid]).toEqual([
      600,
      undefined,
      undefined,
    ]);
    const as = fixture.rest.as({ bearer: acting.body.access_token, tenant: ann.tenantId });
    expect((await as.get('/api/v1/user/profile')).body.id).toBe(bob.userId);
    const delegation = {
      agent_id: 'x',
      services: [{ service_name: 'warehouse', fields: ['password'] }],
    };
    expect(told(await as.post('/api/v1/me/delegations', delegation))).toBe('403 forbidden');
    expect((await act(bob.userId, as)).status).toBe(403);

    const { id } = await boss();
    expect(told(await act(id))).toBe('403 forbidden');
    expect(told(await act('nobody'))).toBe('404 not_found');
    const member = fixture.as(await fixture.register(ann.tenantId));
    expect((await act(bob.userId, member)).status).toBe(403);
    const key = await keyWith('users:write');
    expect((await act(bob.userId, key)).status).toBe(403);
    const stranger = fixture.as(await fixture.signUp('stranger'));
    expect(told(await act(bob.userId, stranger))).toBe('404 not_found');

    fixture.clock.move(11 * MINUTE_MS);
    try {
      const late = await act(bob.userId);
      expect(told(late)).toBe('401 step_up_required');
      expect(late.headers.get('www-authenticate')).toContain('max_age="600"');
    } finally {
      fixture.clock.move(-11 * MINUTE_MS);
    }
    await admin().patch(pathOf(bob.userId), { status: 'disabled' });
    expect((await as.get('/api/v1/user/profile')).status).toBe(401);
  });
});
