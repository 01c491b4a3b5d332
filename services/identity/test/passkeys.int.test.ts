/** Passkeys, with an authenticator in software. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type Account, claimsOf, identityOfFile } from './identity-fixture.ts';
import { mfaTokenOf } from './mfa-fixture.ts';
import { tally } from './replicas-fixture.ts';
import { type Behaviour, softwareAuthenticator } from './software-authenticator.ts';

const { fixture, admin } = identityOfFile({ RATE_LIMIT_FACTOR: '1000' });

const MINE = '/api/v1/me/passkeys';
const SIGN_IN = '/api/v1/auth/passkeys';
type Authenticator = ReturnType<typeof softwareAuthenticator>;
const newcomer = () => fixture.register(admin.tenantId);

async function add(of: Account, key: Authenticator, behaviour: Behaviour = {}) {
  const { challenge_id, options } = (await fixture.as(of).post(`${MINE}/options`)).body;
  const response = key.create(options, behaviour);
  return fixture.as(of).post(MINE, { challenge_id, response, name: 'My key' });
}
async function withPasskey() {
  const bob = await newcomer();
  const key = softwareAuthenticator();
  const { status, body, text } = await add(bob, key);
  if (status !== 201) throw new Error(`${status} ${text}`);
  return { ...bob, key, id: String(body.id) };
}
const asked = async (tenant = admin.tenantId) =>
  (await fixture.rest.post(`${SIGN_IN}/options`, {}, { tenant })).body;
const verify = (challenge_id: string, response: object, tenant = admin.tenantId) =>
  fixture.rest.post(`${SIGN_IN}/verify`, { challenge_id, response }, { tenant });
async function signIn(key: Authenticator, behaviour: Behaviour = {}) {
  const { challenge_id, options } = await asked();
  return verify(challenge_id, key.get(options, behaviour));
}

describe('a passkey', () => {
  it('identity 11 is added, listed, renamed and removed by its owner', async () => {
    const bob = await withPasskey();
    const me = fixture.as(bob);
    const listed = (await me.get(MINE)).body.passkeys;
    expect(listed).toMatchObject([
      { id: bob.id, name: 'My key', device_type: 'singleDevice', backed_up: false },
    ]);
    const renamed = await me.patch(`${MINE}/${bob.id}`, { name: 'Another name' });
    expect(renamed.body).toMatchObject({ id: bob.id, name: 'Another name' });
    const eve = fixture.as(await newcomer());
    for (const id of [bob.id, 'nobody']) {
      expect((await eve.patch(`${MINE}/${id}`, { name: 'x' })).code).toBe('not_found');
      expect((await eve.delete(`${MINE}/${id}`)).code).toBe('not_found');
    }
    expect((await me.delete(`${MINE}/${bob.id}`)).body).toEqual({ status: 'removed' });
    expect((await me.get(MINE)).body.passkeys).toEqual([]);
    expect(await signIn(bob.key)).toMatchObject({ status: 401, code: 'invalid_passkey' });
  });

  it.each<{ name: string; behaviour: Behaviour }>([
    { name: 'another page', behaviour: { origin: 'https://evil.test' } },
    { name: 'an authenticator that verified nobody', behaviour: { unverified: true } },
  ])('identity 11 is not made for $name', async ({ behaviour }) => {
    const answer = await add(await newcomer(), softwareAuthenticator(), behaviour);
    expect(answer).toMatchObject({ status: 401, code: 'invalid_passkey' });
  });

  it('identity 13 takes a recent sign-in, and a challenge of one’s own, once and in time', async () => {
    const [bob, eve] = [await newcomer(), await newcomer()];
    const begin = async () => (await fixture.as(bob).post(`${MINE}/options`)).body;
    const { challenge_id, options } = await begin();
    const response = softwareAuthenticator().create(options);
    const body = { challenge_id, response };
    expect(await fixture.as(eve).post(MINE, body)).toMatchObject({ status: 410 });
    expect(await fixture.as(bob).post(MINE, body)).toMatchObject({
      status: 410,
      code: 'challenge_expired',
    });
    const login = await asked();
    const crossed = { challenge_id: login.challenge_id, response };
    expect((await fixture.as(bob).post(MINE, crossed)).code).toBe('challenge_expired');
    fixture.clock.move(600_000);
    for (const path of [`${MINE}/options`, MINE]) {
      const answer = await fixture.as(bob).post(path, path === MINE ? body : undefined);
      expect(answer).toMatchObject({ status: 401, code: 'step_up_required' });
    }
  });
});

/** Values that browsers, password managers and app bridges send for members that they do not know. */
const ODD = [undefined, null, '', 7, 'text', [null], {}];
const withMember = (answer: object, path: readonly string[], value: unknown): object => {
  const [name = '', ...rest] = path;
  const members = answer as { readonly [member: string]: object };
  const { [name]: before = {}, ...others } = members;
  if (rest.length > 0) return { ...others, [name]: withMember(before, rest, value) };
  return value === undefined ? others : { ...others, [name]: value };
};

describe('a member that browsers fill differently [identity-21]', () => {
  const MADE = [
    ...['transports', 'publicKey', 'authenticatorData', 'publicKeyAlgorithm'].map((name) => [
      'response',
      name,
    ]),
    ['authenticatorAttachment'],
    ['clientExtensionResults'],
  ];
  it.each(MADE)('never breaks what a browser made: %s %s', async (...path) => {
    for (const value of ODD) {
      const bob = await newcomer();
      const me = fixture.as(bob);
      const key = softwareAuthenticator();
      const { challenge_id, options } = (await me.post(`${MINE}/options`)).body;
      const response = withMember(key.create(options), path, value);
      const added = await me.post(MINE, { challenge_id, response });
      expect({ value, status: added.status }).toEqual({ value, status: 201 });
      expect((await me.post(`${MINE}/options`)).status).toBe(200);
      expect((await me.get(MINE)).status).toBe(200);
      expect((await signIn(key)).status).toBe(200);
    }
  });

  const SHOWN = [
    ['response', 'userHandle'],
    ['authenticatorAttachment'],
    ['clientExtensionResults'],
  ];
  it.each(SHOWN)('never breaks what a browser shows: %s %s', async (...path) => {
    const bob = await withPasskey();
    for (const value of ODD) {
      const { challenge_id, options } = await asked();
      const shown = await verify(challenge_id, withMember(bob.key.get(options), path, value));
      const isOther = path.includes('userHandle') && value === 'text';
      expect({ value, status: shown.status }).toEqual({ value, status: isOther ? 401 : 200 });
    }
  });

  it('leaves what an account stored before as it was', async () => {
    const bob = await withPasskey();
    const second = (await fixture.as(bob).post(`${MINE}/options`)).body.options;
    expect(second.excludeCredentials).toMatchObject([{ transports: ['internal'] }]);
  });
});

describe('the user handle [identity-21]', () => {
  it('is one per account, also of two passkeys that are made at once, and after the last is removed', async () => {
    const [bob, eve] = [await newcomer(), await newcomer()];
    const me = fixture.as(bob);
    const handle = async (of: Account) =>
      (await fixture.as(of).post(`${MINE}/options`)).body.options.user.id as string;
    const first = await handle(bob);
    expect(Buffer.from(first, 'base64url')).toHaveLength(32);
    expect(await Promise.all([handle(bob), handle(bob)])).toEqual([first, first]);
    const { body } = await add(bob, softwareAuthenticator());
    expect(await handle(bob)).toBe(first);
    await me.delete(`${MINE}/${body.id}`);
    expect(await handle(bob)).toBe(first);
    expect(await handle(eve)).not.toBe(first);
  });

  it('of an account that got several from an earlier release: each signs in, and a new passkey gets the first', async () => {
    const bob = await newcomer();
    const keys = [softwareAuthenticator(), softwareAuthenticator()];
    const handles = keys.map(() => randomBytes(32).toString('base64url'));
    for (const [at, key] of keys.entries()) {
      expect(await addWithHandle(bob, key, handles[at] ?? '')).toBe(201);
    }
    const options = async () => (await fixture.as(bob).post(`${MINE}/options`)).body.options;
    const { user, excludeCredentials } = await options();
    expect([user.id, excludeCredentials.length]).toEqual([handles[0], 2]);
    for (const key of keys) {
      expect(await signIn(key)).toMatchObject({ status: 200, body: { user_id: bob.userId } });
    }
    const third = softwareAuthenticator();
    expect((await add(bob, third)).status).toBe(201);
    expect((await options()).user.id).toBe(handles[0]);
    expect((await signIn(third)).status).toBe(200);
    // Each entry belongs to one passkey, so the handle of another passkey does not prove it.
    const { challenge_id, options: asking } = await asked();
    const [first, second] = keys as [Authenticator, Authenticator];
    const crossed = withMember(first.get(asking), ['response', 'userHandle'], handles[1]);
    expect(await verify(challenge_id, crossed)).toMatchObject({
      ...{ status: 401, code: 'invalid_passkey' },
    });
    expect((await signIn(second)).status).toBe(200);
  });
});

/** Adds a passkey as an earlier release did, when each passkey got a separate user handle. */
async function addWithHandle(of: Account, key: Authenticator, handle: string): Promise<number> {
  const { challenge_id, options } = (await fixture.as(of).post(`${MINE}/options`)).body;
  const { cache } = fixture.host.needsOf('identity');
  const name = `webauthn:${challenge_id}`;
  const pending = JSON.parse((await cache.take(name)) ?? '{}');
  const making = { ...pending.making, userHandle: handle };
  await cache.set(name, JSON.stringify({ ...pending, making }), 60_000);
  const response = key.create({ ...options, user: { ...options.user, id: handle } });
  return (await fixture.as(of).post(MINE, { challenge_id, response })).status;
}

describe('a sign-in by passkey', () => {
  it('says whether the passkey is synchronized by now [identity-21]', async () => {
    const bob = await newcomer();
    const key = softwareAuthenticator();
    await add(bob, key, { backedUp: true });
    const backedUp = async () =>
      (await fixture.as(bob).get(MINE)).body.passkeys[0].backed_up as boolean;
    expect(await backedUp()).toBe(true);
    expect((await signIn(key)).status).toBe(200);
    expect(await backedUp()).toBe(false);
  });

  it('identity 11 leaves a session, and asks for nothing further', async () => {
    const bob = await withPasskey();
    const done = await signIn(bob.key);
    expect(done).toMatchObject({ status: 200, body: { user_id: bob.userId, mfa_required: false } });
    expect(claimsOf(done.body.access_token)).toMatchObject({ amr: ['pop', 'mfa'] });
    expect((await fixture.refresh(done.body.refresh_token)).status).toBe(200);
    const { body } = await fixture.as(bob).get(MINE);
    expect(body.passkeys[0].last_used_at).not.toBeNull();
  });

  it.each<{ name: string; behaviour: Behaviour }>([
    { name: 'another page', behaviour: { origin: 'https://evil.test' } },
    { name: 'no person', behaviour: { unverified: true } },
    { name: 'a counter that went back', behaviour: { counter: 1 } },
  ])('identity 11 with $name is refused', async ({ behaviour }) => {
    const bob = await withPasskey();
    expect((await signIn(bob.key, { counter: 9 })).status).toBe(200);
    const refused = await signIn(bob.key, behaviour);
    expect(refused).toMatchObject({ status: 401, code: 'invalid_passkey' });
    expect((await signIn(bob.key, { counter: 10 })).status).toBe(200);
  });

  it('identity 11 takes an answer once, of twenty at once too, and only in its tenant', async () => {
    const bob = await withPasskey();
    const { challenge_id, options } = await asked();
    const response = bob.key.get(options);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => verify(challenge_id, response)),
    );
    expect(tally(answers)).toEqual({ '200 ok': 1, '410 challenge_expired': 19 });
    const other = await fixture.signUp();
    const elsewhere = await asked(other.tenantId);
    const foreign = bob.key.get(elsewhere.options);
    expect(await verify(elsewhere.challenge_id, foreign, other.tenantId)).toMatchObject({
      status: 401,
      code: 'invalid_passkey',
    });
  });

  it('is nobody’s where the account is closed, and refused where the tenant allows none', async () => {
    const bob = await withPasskey();
    const path = `/api/v1/admin/users/${bob.userId}`;
    const again = await fixture.signInAgain(admin);
    expect((await fixture.as(again).patch(path, { status: 'disabled' })).status).toBe(200);
    expect(await signIn(bob.key)).toMatchObject({ status: 401, code: 'invalid_passkey' });
    const boss = await fixture.signUp();
    await fixture.setTenant(boss.tenantId, { auth_methods: ['password'] });
    const refused = await fixture.rest.post(`${SIGN_IN}/options`, {}, { tenant: boss.tenantId });
    expect(refused).toMatchObject({ status: 403, code: 'passkeys_login_disabled' });
  });

  it('is asked for in the same way whoever has the address', async () => {
    const bob = await withPasskey();
    const { tenantId: tenant, email } = bob;
    const ask = async (address: string) => {
      const { status, body } = await fixture.rest.post(
        `${SIGN_IN}/options`,
        { email: address },
        { tenant },
      );
      return { status, options: { ...body.options, challenge: '' } };
    };
    expect(await ask(email)).toEqual(await ask('nobody@example.com'));
  });
});

describe('a passkey as the second factor', () => {
  const CHALLENGE = '/api/v1/auth/mfa/challenge';
  const VERIFY = '/api/v1/auth/mfa/verify';

  it('identity 11 completes a sign-in by password, its owner’s alone', async () => {
    const [bob, eve] = [await withPasskey(), await withPasskey()];
    const shown = async (key: Authenticator) => {
      const mfa_token = await mfaTokenOf(fixture, bob);
      const begun = await fixture.rest.post(CHALLENGE, { mfa_token, method: 'passkey' });
      const { challenge_id, options } = begun.body;
      const response = key.get(options);
      const body = { mfa_token, method: 'passkey', challenge_id, response };
      return fixture.rest.post(VERIFY, body);
    };
    const done = await shown(bob.key);
    expect(claimsOf(done.body.access_token).amr).toEqual(['pwd', 'pop', 'mfa']);
    expect(await shown(eve.key)).toMatchObject({ status: 401, code: 'invalid_code' });
  });

  it('steps a session up', async () => {
    const bob = await withPasskey();
    fixture.clock.move(600_000);
    const { challenge_id, options } = await asked();
    const response = bob.key.get(options);
    const body = { method: 'passkey', challenge_id, response };
    const stepped = await fixture.as(bob).post('/api/v1/auth/step-up', body);
    expect(claimsOf(stepped.body.access_token).amr).toEqual(['pwd', 'pop', 'mfa']);
    const fresh = fixture.as({ ...bob, access: stepped.body.access_token });
    expect((await fresh.delete(`${MINE}/${bob.id}`)).status).toBe(200);
  });
});
