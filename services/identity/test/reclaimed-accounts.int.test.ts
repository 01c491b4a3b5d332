/** A person registered another person's address. When its owner takes the account over, nothing earlier remains. */
import { untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Account, PASSWORD } from './identity-fixture.ts';
import { withTotp } from './mfa-fixture.ts';
import { application, authorized, browser, oauthCalls, oauthOfFile } from './oauth-fixture.ts';
import { knownAt, newPerson, type SocialFixture, socialFixture } from './social-fixture.ts';

const { fixture } = oauthOfFile({ RATE_LIMIT_FACTOR: '10000' });
let social: SocialFixture;
beforeAll(async () => {
  social = await socialFixture(fixture);
});
afterAll(async () => {
  await social?.stop();
});
const { introspect, refresh, authorize } = oauthCalls(() => fixture);

const SERVICES = [{ service_name: 'warehouse', fields: ['password'] }];
const SCOPE = 'openid offline_access';
const NEW_PASSWORD = 'a password of the owner';

/** A workspace in another person's name, with everything that can be created in it. */
async function hijacked() {
  const eve = await fixture.signUp('eve');
  const { tenantId: tenant } = eve;
  const me = fixture.as(eve);
  const auth_methods = ['password', 'magic_link', 'otp', 'google', 'github'];
  await social.setUp(eve, { auth_methods });
  const made = async (path: string, body: object) => {
    const answer = await me.post(path, body);
    expect(answer).toMatchObject({ status: 201 });
    return answer.body;
  };
  const apiKey = await made('/api/v1/api-keys', { name: 'mine', scopes: ['users:read'] });
  const agent = await made('/api/v1/agents', { name: 'bot', services: SERVICES });
  const agentKey = await made(`/api/v1/agents/${agent.id}/keys`, { name: 'ci' });
  const delegation = { agent_id: agent.id, services: SERVICES };
  await made('/api/v1/me/delegations', delegation);
  const byKey = fixture.rest.as({ bearer: agentKey.key, tenant });
  const session = (await byKey.post('/api/v1/agent/sessions', forUser(eve))).body.data;
  const client = await application(fixture, eve, { scopes: ['openid', 'offline_access'] });
  const more = { scope: SCOPE };
  const app = await authorized(fixture, { client, account: eve, more });
  await withTotp(fixture, eve);
  const api = fixture.rest.as({ bearer: apiKey.key, tenant });
  return { eve, agent, byKey, api, session, client, app, agentKey };
}
type Hijacked = Awaited<ReturnType<typeof hijacked>>;

const forUser = ({ userId }: Account) => ({ services: SERVICES, user_id: userId });

async function expectNothingLeft({ eve, agent, byKey, api, session, client, app }: Hijacked) {
  // This ends at once, with the response that took the account over.
  expect((await fixture.as(eve).get('/api/v1/user/profile')).code).toBe('unauthenticated');
  expect((await fixture.refresh(eve.refresh)).code).toBe('invalid_refresh_token');
  expect((await api.get('/api/v1/admin/users')).code).toBe('unauthenticated');
  const started = await byKey.post('/api/v1/agent/sessions', forUser(eve));
  expect(started.code).toBe('invalid_agent_key');
  for (const token of [session.capability_token, app.access_token, app.refresh_token]) {
    expect(await introspect(token)).toEqual({ active: false });
  }
  expect((await refresh(client, app.refresh_token)).body.error).toBe('invalid_grant');
  expect((await fixture.logIn(eve)).code).toBe('invalid_credentials');
  const page = browser(fixture);
  for (const [name, kept] of app.page.jar) page.jar.set(name, kept);
  const back = await page.get(authorize(client, { prompt: 'none', scope: SCOPE }));
  expect(back.location).toContain('error=login_required');

  // The other objects end event by event, a moment later.
  return async (access: string) => {
    const owner = fixture.as({ tenantId: eve.tenantId, access });
    await untilTrue(async () => (await owner.get('/api/v1/me/delegations')).body.total === 0, {
      what: 'delegations are withdrawn',
    });
    await untilTrue(async () => (await owner.get('/api/v1/auth/consents')).text.includes('[]'), {
      what: 'consents are withdrawn',
    });
    await untilTrue(async () => (await owner.get('/api/v1/api-keys')).body.total === 0, {
      what: 'API keys are revoked',
    });
    await untilTrue(
      async () =>
        (await owner.get(`/api/v1/agents/${agent.id}`)).body.status === 'suspended' &&
        (await owner.get(`/api/v1/agents/${agent.id}/keys`)).text.includes('[]'),
      { what: 'its agents are suspended, without keys' },
    );
    expect((await owner.get('/api/v1/me/mfa')).body.factors).toEqual([]);
    expect((await owner.get('/api/v1/me/sessions')).body.count).toBeLessThanOrEqual(1);
    // Resuming an agent does not restore its access.
    await owner.patch(`/api/v1/agents/${agent.id}`, { status: 'active' });
    const again = await byKey.post('/api/v1/agent/sessions', forUser(eve));
    expect(again.code).toBe('invalid_agent_key');
    const key = await owner.post(`/api/v1/agents/${agent.id}/keys`, { name: 'ours' });
    const anew = fixture.rest.as({ bearer: key.body.key, tenant: eve.tenantId });
    const session = await anew.post('/api/v1/agent/sessions', forUser(eve));
    expect(session.code).toBe('delegation_required');
  };
}

/** Sets a new password through the newest mailed link. */
async function ownerAfterReset(account: Account): Promise<string> {
  const { token } = await fixture.mail(account.email, /password/i);
  const body = { token, new_password: NEW_PASSWORD };
  expect((await fixture.rest.post('/api/v1/auth/reset-password', body)).status).toBe(200);
  const owner = await fixture.logIn(account, NEW_PASSWORD);
  expect(owner.body).toMatchObject({ email_verified: true, mfa_required: false });
  return owner.body.access_token;
}

async function byVerification({ email }: Account): Promise<undefined> {
  const { token } = await fixture.mail(email, /Confirm/);
  const answer = await fixture.rest.post('/api/v1/auth/verify-email', { token });
  expect(answer.body).toEqual({ status: 'email verified' });
}

async function byCode({ email, tenantId: tenant }: Account): Promise<string> {
  await fixture.rest.post('/api/v1/auth/otp/send', { email }, { tenant });
  const { text } = await fixture.mail(email, /code/i);
  const code = /[0-9A-Z]{4}-[0-9A-Z]{4}/.exec(text)?.[0];
  const { body } = await fixture.rest.post('/api/v1/auth/otp/verify', { code, email }, { tenant });
  return body.access_token;
}

async function byLink({ email, tenantId: tenant }: Account): Promise<string> {
  await fixture.rest.post('/api/v1/auth/magic-link', { email }, { tenant });
  const { token } = await fixture.mail(email, /^Sign in/);
  const { body } = await fixture.rest.post('/api/v1/auth/magic-link/verify', { token });
  return body.access_token;
}

describe('an account that was registered with an address of somebody else', () => {
  it('identity 12 is taken by a social sign-in of its owner, with nothing that was made in it', async () => {
    const before = await hijacked();
    knownAt(social, 'google', { ...newPerson(), email: before.eve.email });
    const entered = await social.signIn('google', before.eve.tenantId);
    expect(entered.body.user_id).toBe(before.eve.userId);
    const expectLater = await expectNothingLeft(before);
    await expectLater(entered.body.access_token);
  });

  it('identity 12 P4 is taken by a reset of its password, with nothing that was made in it', async () => {
    const before = await hijacked();
    const { email, tenantId: tenant } = before.eve;
    await fixture.rest.post('/api/v1/auth/forgot-password', { email }, { tenant });
    const access = await ownerAfterReset(before.eve);
    const expectLater = await expectNothingLeft(before);
    await expectLater(access);
  });

  const BY_MAIL = [
    { name: 'the link of its verification mail', prove: byVerification },
    { name: 'a mailed code', prove: byCode },
    { name: 'a mailed link', prove: byLink },
  ];
  it.each(BY_MAIL)('P4 is taken by $name, with nothing that was made in it', async ({ prove }) => {
    const before = await hijacked();
    const access = await prove(before.eve);
    const expectLater = await expectNothingLeft(before);
    await expectLater(access ?? (await ownerAfterReset(before.eve)));
  });
});

describe('the first proof of an address by its registrant', () => {
  const unproven = async () => {
    const { tenantId } = await fixture.signUp('boss');
    return await fixture.register(tenantId, 'carol');
  };
  const verifying = async (body: object, account: Account, bearer?: string) => {
    const { token } = await fixture.mail(account.email, /Confirm/);
    const options = bearer === undefined ? {} : { bearer };
    return await fixture.rest.post('/api/v1/auth/verify-email', { token, ...body }, options);
  };
  const keeps = async (account: Account) => {
    expect((await fixture.refresh(account.refresh)).body.email_verified).toBe(true);
    expect((await fixture.logIn(account)).status).toBe(200);
  };

  it('P4 leaves the account as it is, with the token of their session', async () => {
    const carol = await unproven();
    expect((await verifying({}, carol, carol.access)).status).toBe(200);
    await keeps(carol);
  });

  it('P4 leaves the account as it is, with its password', async () => {
    const carol = await unproven();
    const wrong = await verifying({ password: 'none of theirs' }, carol);
    expect(wrong.code).toBe('invalid_credentials');
    expect((await verifying({ password: PASSWORD }, carol)).status).toBe(200);
    await keeps(carol);
  });

  it('P4 without either leaves a usable account: a link to choose a password is mailed', async () => {
    const carol = await unproven();
    const stranger = await fixture.register(carol.tenantId, 'mallory');
    const answer = await verifying({}, carol, stranger.access);
    expect(answer.body).toEqual({ status: 'email verified' });
    expect((await fixture.logIn(carol)).code).toBe('invalid_credentials');
    expect((await fixture.refresh(carol.refresh)).code).toBe('invalid_refresh_token');
    const access = await ownerAfterReset(carol);
    const me = fixture.as({ ...carol, access });
    expect((await me.get('/api/v1/user/profile')).body.email_verified).toBe(true);
  });
});

describe('a reset of the password of somebody who had proven their address', () => {
  it('identity 7 ends sessions, and leaves access tokens, keys and factors to them', async () => {
    const ann = await fixture.signUp('ann');
    const { token: proof } = await fixture.mail(ann.email, /Confirm/);
    const me = fixture.as(ann);
    await me.post('/api/v1/auth/verify-email', { token: proof });
    const key = await me.post('/api/v1/api-keys', { name: 'k', scopes: ['users:read'] });
    const { email, tenantId: tenant } = ann;
    await withTotp(fixture, ann);
    await fixture.rest.post('/api/v1/auth/forgot-password', { email }, { tenant });
    const { token } = await fixture.mail(email, /password/i);
    const body = { token, new_password: NEW_PASSWORD };
    expect((await fixture.rest.post('/api/v1/auth/reset-password', body)).status).toBe(200);
    expect((await fixture.refresh(ann.refresh)).code).toBe('invalid_refresh_token');
    // A single access token cannot be revoked (4.2 rule 5), but introspection reports that it has ended.
    expect((await me.get('/api/v1/user/profile')).status).toBe(200);
    expect(await introspect(ann.access)).toEqual({ active: false });
    const api = fixture.rest.as({ bearer: key.body.key, tenant });
    expect((await api.get('/api/v1/admin/users')).status).toBe(200);
    expect((await fixture.logIn(ann)).code).toBe('invalid_credentials');
    expect((await fixture.logIn(ann, NEW_PASSWORD)).body.mfa_required).toBe(true);
  });
});
