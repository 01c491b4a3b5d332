/**
 * Tests that whatever grants access is shown once, to the caller that it is for. A story issues one of each kind and
 * also misuses them. Then everything is searched for them.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type RestAnswer, testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testCallers } from './callers.ts';
import { catalogueOf } from './catalogue.ts';
import { dumpOf } from './dump.ts';
import { type Fortress, fortress } from './fortress.ts';
import { send, titleOf } from './sample.ts';
import { mailedToken } from './samples/identity.ts';
import { type Canary, canariesOf, hits, type Location } from './search.ts';
import { pendingSignIn } from './second-factors.ts';
import { storyOfMetadata } from './story-of-metadata.ts';
import { storyOfVersions } from './story-of-versions.ts';
import { expectStatus, PASSWORD } from './users.ts';

const ADMIN_PASSWORD = 'canary-Zx81-of-the-first-administrator';
const NEW_PASSWORD = 'canary-Qm42-of-a-changed-password';
const RESET_PASSWORD = 'canary-Vt77-of-a-password-set-anew';
const MISTYPED = 'canary-Hw09-of-a-mistyped-password';
const VAULT_VALUE = 'canary-Kd63-of-a-value-in-the-vault';
const DEPLOYMENT = {
  JWT_SECRET: 'ca4a71e5'.repeat(8),
  ENCRYPTION_KEY: '5ec4e7b0'.repeat(8),
  ADMIN_EMAIL: 'root@example.com',
  ADMIN_PASSWORD,
};

/** A busy machine is slow to deliver. */
const DELIVERY_WAIT_MS = 60_000;

const database = testDatabase();
let world: Fortress;
const canaries: Canary[] = [];
/** The canaries that are sent by mail. Each may be in one mail. */
const mailed: Canary[] = [];
const refusedAnswers: Location[] = [];

const remember = (name: string, value: unknown): void => {
  if (typeof value !== 'string' || value === '') throw new Error(`the story shows no ${name}`);
  canaries.push(...canariesOf(name, value));
};

beforeAll(async () => {
  world = await fortress({ databaseUrl: database.url, env: DEPLOYMENT });
  for (const [name, value] of Object.entries(DEPLOYMENT)) {
    if (name !== 'ADMIN_EMAIL') remember(name, value);
  }
  for (const value of [PASSWORD, NEW_PASSWORD, RESET_PASSWORD, MISTYPED])
    remember('password', value);
  await storyOfPeople();
  await storyOfSecondFactors();
  await storyOfMachines();
  await storyOfTheVault();
  await storyOfWebhooks();
  await storyOfMetadata(world, { remember });
  await storyOfMistakes();
  await settled();
});
afterAll(async () => {
  await world?.stop();
});

async function storyOfPeople(): Promise<void> {
  const { a, rest } = world;
  const { tenantId: tenant } = a;
  for (const [name, { access, refresh }] of Object.entries({ owner: a.owner, member: a.member })) {
    remember(`access token of the ${name}`, access);
    remember(`refresh token of the ${name}`, refresh);
  }
  const refreshed = await rest.post('/api/v1/auth/refresh', { refresh_token: a.member.refresh });
  expectStatus(refreshed, 200);
  remember('refreshed access token', refreshed.body.access_token);
  remember('second refresh token', refreshed.body.refresh_token);
  refused(await rest.post('/api/v1/auth/refresh', { refresh_token: a.member.refresh }), 401);
  const changed = await rest.post(
    '/api/v1/user/change-password',
    { current_password: PASSWORD, new_password: NEW_PASSWORD },
    { bearer: a.member.access },
  );
  expectStatus(changed, 200);

  const email = world.newEmail();
  const body = { email, password: PASSWORD, display_name: 'Guest' };
  expectStatus(await rest.post('/api/v1/auth/register', body, { tenant }), 201);
  const confirm = await mailedToken(world, email, /confirm/i);
  const proof = { token: confirm, password: PASSWORD };
  expectStatus(await rest.post('/api/v1/auth/verify-email', proof), 200);
  refused(await rest.post('/api/v1/auth/verify-email', { token: confirm }), 422);
  expectStatus(await rest.post('/api/v1/auth/forgot-password', { email }, { tenant }), 200);
  const token = await mailedToken(world, email, /password/i);
  const reset = { token, new_password: RESET_PASSWORD };
  expectStatus(await rest.post('/api/v1/auth/reset-password', reset), 200);
  refused(await rest.post('/api/v1/auth/reset-password', reset), 401);
  mailed.push(...canariesOf('confirmation token', confirm), ...canariesOf('reset token', token));
}

async function storyOfSecondFactors(): Promise<void> {
  const { mfaToken, secret, codes } = await pendingSignIn(world);
  const verify = '/api/v1/auth/mfa/verify';
  const [code = ''] = codes;
  const shown = { mfa_token: mfaToken, method: 'recovery', code };
  refused(await world.rest.post(verify, { ...shown, code: `${code}0` }), 401);
  refused(await world.rest.post(verify, { ...shown, mfa_token: `${mfaToken}x` }), 401);
  refused(await world.rest.get('/api/v1/auth/me', { bearer: mfaToken }), 401);
  const done = await world.rest.post(verify, shown);
  expectStatus(done, 200);
  refused(await world.rest.post(verify, shown), 401);
  remember('mfa token', mfaToken);
  remember('secret of an authenticator app', secret);
  for (const each of codes) remember('recovery code', each);
  remember('recovery code without its hyphen', code.replace('-', ''));
  remember('access token of a second factor', done.body.access_token);
}

async function storyOfMachines(): Promise<void> {
  const { a, b } = world;
  const admin = adminOfA();
  for (const { agentsAndKeys } of [a, b]) {
    const { keys, agent } = agentsAndKeys;
    for (const [name, key] of Object.entries(keys)) remember(`API key ${name}`, key);
    remember('agent key', agent.key);
    remember('agent token', agent.token);
    remember('capability token', agent.capability);
  }
  const made = await admin.post('/api/v1/api-keys', { name: 'turned', scopes: ['fga:read'] });
  const rotated = await admin.post(`/api/v1/api-keys/${made.body.id}/rotate`, {});
  remember('old API key', made.body.key);
  remember('new API key', rotated.body.key);
  refused(
    await world.rest.get('/api/v1/fga/tuples', { bearer: made.body.key, tenant: a.tenantId }),
    401,
  );
}

async function storyOfTheVault(): Promise<void> {
  const { a, rest } = world;
  const admin = adminOfA();
  const service = { name: 'billing', credential_type: 'static', fields: [{ name: 'api_key' }] };
  expectStatus(await admin.post('/api/v1/vault/services', service), 201);
  const secrets = '/api/v1/vault/services/billing/secrets';
  expectStatus(await admin.put(secrets, { fields: { api_key: VAULT_VALUE } }), 200);
  refused(await admin.put(secrets, { fields: { unknown: VAULT_VALUE } }), 400);
  refused(await admin.put(secrets, { fields: { api_key: VAULT_VALUE }, [VAULT_VALUE]: 1 }), 400);
  remember('vault value', VAULT_VALUE);
  const { agent } = a.agentsAndKeys;
  const vended = await rest.post(
    `/api/v1/agent/sessions/${agent.sessionId}/credentials`,
    { service_name: 'billing', fields: ['api_key'] },
    {
      bearer: agent.key,
      tenant: a.tenantId,
      headers: { 'x-service-token': agent.capability },
    },
  );
  expectStatus(vended, 200);
  expect(vended.body.data.fields).toEqual({ api_key: VAULT_VALUE });
  await storyOfVersions(admin, { remember, refused });
}

async function storyOfWebhooks(): Promise<void> {
  const admin = adminOfA();
  const hook = { url: `${world.receiver.url}/hook`, events: ['user.created', 'user.login'] };
  const made = await admin.post('/api/v1/webhooks', hook);
  expectStatus(made, 201);
  remember('webhook secret', made.body.secret);
  const turned = await admin.post(`/api/v1/webhooks/${made.body.id}/rotate-secret`, {});
  remember('new webhook secret', turned.body.secret);
  expectStatus(await admin.post(`/api/v1/webhooks/${made.body.id}/test`, {}), 202);
  await world.addUser(world.a.owner, ['member']);
  const { receiver } = world;
  await receiver.waitFor(({ body }) => body.includes('user.login'), DELIVERY_WAIT_MS);
}

/**
 * Sends secrets where they do not belong: in other fields, in wrong forms, in the URL, to another caller's endpoints.
 */
async function storyOfMistakes(): Promise<void> {
  const { a, rest } = world;
  const { tenantId: tenant, owner } = a;
  const login = '/api/v1/auth/login';
  const secrets = [MISTYPED, owner.access, a.agentsAndKeys.keys.write, a.agentsAndKeys.agent.key];
  for (const secret of secrets) {
    refused(await rest.post(login, { email: owner.email, password: secret }, { tenant }), 401);
    refused(await rest.post(login, { email: secret, password: 1 }, { tenant }), 400);
    refused(await rest.post(login, `{"password":"${secret}"`, { tenant }), 400);
    refused(await rest.post(login, { [secret]: secret }, { tenant }), 400);
    refused(await rest.get('/api/v1/auth/me', { bearer: `${secret}x` }), 401);
    refused(await rest.get('/api/v1/auth/me', { tenant: secret, bearer: owner.access }), 403, 400);
    refused(await rest.get(`/api/v1/${encodeURIComponent(secret)}`), 404);
    refused(
      await rest.get('/api/v1/auth/me', { query: { [secret]: secret }, bearer: owner.access }),
      400,
    );
    refused(await rest.post('/api/v1/auth/refresh', { refresh_token: secret }), 401);
    refused(
      await rest.post('/api/v1/auth/reset-password', { token: secret, new_password: MISTYPED }),
      401,
    );
    refused(await rest.post('/api/v1/auth/identify', { publishable_key: secret }), 401);
  }
}

function refused(answer: RestAnswer, ...statuses: readonly number[]): void {
  const { status } = answer;
  if (!statuses.includes(status)) expectStatus(answer, statuses[0] ?? 0);
  refusedAnswers.push({ name: `answer ${status} ${answer.code}`, text: answer.text });
}

/** Waits until the story's last event has come through the topics into the audit log. */
async function settled(): Promise<void> {
  const last = await world.addUser(world.a.owner, ['member']);
  await untilTrue(
    async () => (await adminOfA().get('/api/v1/audit/events')).text.includes(last.userId),
    { what: 'the last user in the audit log' },
  );
}

const adminOfA = () => world.rest.as({ bearer: world.a.owner.access, tenant: world.a.tenantId });

const logs = (): readonly Location[] => [{ name: 'the log', text: world.lines.join('\n') }];

async function mails(): Promise<readonly Location[]> {
  const folder = join(world.mailFolder, 'mail');
  const names = await readdir(folder, { recursive: true });
  const files = names.filter((name) => name.endsWith('.eml'));
  return Promise.all(
    files.map(async (name) => {
      const text = await readFile(join(folder, name), 'utf8');
      // Mails have folded lines and encoded characters; a reader joins and decodes them.
      const joined = text.replaceAll(/=\r?\n/g, '').replaceAll(/=([0-9A-F]{2})/g, opened);
      return { name: `mail ${name}`, text: `${text}\n${joined}` };
    }),
  );
}
const opened = (_: string, hex: string): string => String.fromCharCode(Number.parseInt(hex, 16));

it('S15 the search finds a secret in each of its spellings', () => {
  const secret = 'S3cret/of+the house';
  const [canary] = canariesOf('it', secret);
  for (const text of [
    `a ${secret} b`,
    Buffer.from(secret).toString('hex'),
    encodeURIComponent(secret),
    ...['', 'x', 'xy'].map((before) => Buffer.from(`${before}${secret}, `).toString('base64')),
    Buffer.from(secret).toString('base64url'),
  ]) {
    expect(hits([canary as Canary], [{ name: 'here', text }])).not.toEqual([]);
  }
  expect(hits([canary as Canary], [{ name: 'here', text: 'S3cret of the house' }])).toEqual([]);
});

it('S15 no secret stands in a log line at level debug', () => {
  expect(logs()[0]?.text).toContain(world.a.owner.userId);
  expect(hits([...canaries, ...mailed], logs())).toEqual([]);
});

it('S15 no secret stands in clear in any table, event or topic', async () => {
  const dump = await dumpOf(database.url);
  const whereUserIs = dump.filter(({ text }) => text.includes(world.a.owner.userId));
  const named = whereUserIs.map(({ name }) => name).join();
  expect(named).toMatch(/eventstore\.events/);
  expect(named).toMatch(/identity\.users/);
  expect(named).toMatch(/bus\./);
  expect(named).toMatch(/audit\./);
  expect(hits([...canaries, ...mailed], dump)).toEqual([]);
});

it('S15 no refusal repeats what was sent', () => {
  expect(refusedAnswers.length).toBeGreaterThan(40);
  expect(hits([...canaries, ...mailed], refusedAnswers)).toEqual([]);
});

it('S15 a mail holds the one secret that it is for', async () => {
  const places = await mails();
  expect(hits(canaries, places)).toEqual([]);
  for (const canary of mailed.filter(({ name }) => !name.startsWith('part'))) {
    const holding = places.filter((place) => hits([canary], [place]).length > 0);
    expect({ canary: canary.name, mails: holding.length }).toEqual({
      canary: canary.name,
      mails: 1,
    });
  }
});

it('S15 no list, export, metric or delivery shows a secret again', async () => {
  const places: Location[] = world.receiver.received.map(({ body, headers }) => ({
    name: 'a delivery',
    text: `${JSON.stringify(headers)} ${body}`,
  }));
  const metrics = await fetch(`${world.managementUrl}/metrics`);
  places.push({ name: 'the metrics', text: await metrics.text() });
  for (const { endpoint, sample } of catalogueOf(world)) {
    const { method, path } = endpoint.contract;
    if (method !== 'get' || path.startsWith('/dev/') || path.includes('{')) continue;
    const as = testCallers(world).find(({ name }) => name === sample.by);
    const ask = { ...(await sample.ask(world)), query: {} };
    const { text } = await send(world, endpoint, ask, { as, tenant: world.a.tenantId });
    places.push({ name: titleOf(endpoint), text });
  }
  expect(hits([...canaries, ...mailed], places)).toEqual([]);
});
