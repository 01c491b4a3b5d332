/**
 * A token from a mailed code names no session. Its recent sign-in ends with everything that ends all sessions of its
 * user, in every service and at every replica.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { services } from '@cardea/standalone';
import {
  needRedis,
  type RestAnswer,
  type ServiceFixture,
  serviceFixture,
  startRedis,
  testDatabase,
  untilTrue,
} from '@cardea/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectStatus, PASSWORD, type Person, type Users, usersOf } from './users.ts';

const NEW_PASSWORD = 'another long enough phrase';
const GRANT = { service_name: 'warehouse', fields: ['password'] };
const SERVICES = ['identity', 'vault', 'approval', 'webhooks'];

needRedis();
const database = testDatabase();
const folder = mkdtempSync(join(tmpdir(), 'cardea-sign-ins-'));
const replicas: ServiceFixture[] = [];
let stopRedis: (() => Promise<unknown>) | undefined;
let users: Users;
let owner: Person;
let webhook: string;
let agent: { readonly id: string; readonly key: string };

beforeAll(async () => {
  const redis = await startRedis();
  stopRedis = () => redis.stop();
  const options = {
    databaseUrl: database.url,
    definitions: services.filter(({ name }) => SERVICES.includes(name)),
    env: {
      JWT_SECRET: 'j'.repeat(64),
      ENCRYPTION_KEY: 'e0'.repeat(32),
      REDIS_URL: redis.url,
      CARDEA_DATA: folder,
      ARGON2_MEMORY: '8',
      ARGON2_TIME: '1',
      RATE_LIMIT_FACTOR: '1000',
    },
  };
  replicas.push(await serviceFixture(options), await serviceFixture(options));
  users = usersOf(at(0).rest);
  owner = await users.signUp('Acme');
  const admin = by(0, owner);
  const service = { name: 'warehouse', credential_type: 'static', fields: [{ name: 'password' }] };
  expectStatus(await admin.post('/api/v1/vault/services', service), 201);
  const secrets = { fields: { password: 'a secret' } };
  expectStatus(await admin.put('/api/v1/vault/services/warehouse/secrets', secrets), 200);
  const made = await admin.post('/api/v1/agents', { name: 'porter', services: [GRANT] });
  expectStatus(made, 201);
  const key = await admin.post(`/api/v1/agents/${made.body.id}/keys`, { name: 'k' });
  agent = { id: made.body.id, key: key.body.key };
  const hook = { url: 'https://example.com/hook', events: ['user.created'] };
  const hooked = await admin.post('/api/v1/webhooks', hook);
  expectStatus(hooked, 201);
  webhook = hooked.body.id;
  const policy = {
    ...{ name: 'owner', service_name: 'warehouse', fields: '*', agent_ids: '*' },
    ...{ effect: 'require_approval', approver: 'agent_owner', max_auth_age_seconds: 600 },
  };
  expectStatus(await admin.post('/api/v1/vault/approval-policies', policy), 201);
});
afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.stop()));
  await stopRedis?.();
  rmSync(folder, { recursive: true, force: true });
});

function at(replica: number): ServiceFixture {
  const found = replicas[replica];
  if (found === undefined) throw new Error('The replicas exist from beforeAll on.');
  return found;
}
const by = (replica: number, { access, tenantId }: Pick<Person, 'access' | 'tenantId'>) =>
  at(replica).rest.as({ bearer: access, tenant: tenantId });

const mailed = (email: string, about: RegExp) =>
  untilTrue(
    async () => {
      const { body } = await at(0).rest.get('/dev/mailbox', { query: { to: email } });
      const mails: readonly { subject: string; link: string; text: string }[] = body.messages;
      const own = mails.filter(({ subject }) => !subject.startsWith('Security notice'));
      return own.find(({ subject }) => about.test(subject));
    },
    { what: 'the mail' },
  );

async function addAdmin(): Promise<Person> {
  const email = users.newEmail();
  const body = { email, password: PASSWORD, roles: ['member', 'admin'], email_verified: true };
  expectStatus(await by(0, owner).post('/api/v1/admin/users', body), 201);
  return users.logIn({ tenantId: owner.tenantId, email });
}

async function byMailedCode({ email, tenantId: tenant }: Person): Promise<Person['access']> {
  const { rest } = at(0);
  expectStatus(await rest.post('/api/v1/auth/otp/send', { email }, { tenant }), 200);
  const { text } = await mailed(email, /code/i);
  const code = /[0-9A-Z]{4}-[0-9A-Z]{4}/.exec(text)?.[0];
  const answer = await rest.post('/api/v1/auth/otp/verify', { email, code }, { tenant });
  expectStatus(answer, 200);
  return answer.body.access_token;
}

/** Starts a session of the agent and requests an approval from a person, who becomes the agent's owner. */
async function askFor({ userId }: Person): Promise<string> {
  const { tenantId: tenant, access: subject_token } = owner;
  const path = `/api/v1/agents/${agent.id}`;
  expectStatus(await by(0, owner).patch(path, { owner_user_id: userId }), 200);
  const byAgent = at(0).rest.as({ bearer: agent.key, tenant });
  const session = await byAgent.post('/api/v1/agent/sessions', {
    services: [GRANT],
    subject_token,
  });
  expectStatus(session, 201);
  const { id, capability_token: capability } = session.body.data;
  const vend = await byAgent.post(`/api/v1/agent/sessions/${id}/credentials`, GRANT, {
    headers: { 'x-service-token': capability },
  });
  expectStatus(vend, 202);
  return vend.body.data.approval_id;
}

/** Calls that require a recent sign-in, in three services at both replicas. */
async function seen(access: string): Promise<readonly string[]> {
  const { tenantId } = owner;
  const id = '01900000-0000-7000-8000-000000000000';
  const answers = await Promise.all(
    replicas.flatMap((_, replica) => {
      const caller = by(replica, { access, tenantId });
      return [
        caller.patch(`/api/v1/admin/users/${id}`, { status: 'active' }),
        caller.put('/api/v1/vault/services/nothing/secrets', { fields: { password: 'x' } }),
        caller.patch(`/api/v1/webhooks/${webhook}`, { description: 'ours' }),
      ];
    }),
  );
  return answers.map(({ code }) => (code === 'step_up_required' ? 'stale' : 'recent'));
}
const all = (word: string) => Array.from({ length: 6 }, () => word);

type End = (person: Person) => Promise<RestAnswer>;
const setStatus = (person: Person, status: string) =>
  by(0, owner).patch(`/api/v1/admin/users/${person.userId}`, { status });

it.each<{ what: string; end: End }>([
  {
    what: 'a change of the password',
    end: (person) =>
      by(0, person).post('/api/v1/user/change-password', {
        current_password: PASSWORD,
        new_password: NEW_PASSWORD,
      }),
  },
  {
    what: 'a reset of the password',
    end: async ({ email, tenantId: tenant }) => {
      const { rest } = at(0);
      await rest.post('/api/v1/auth/forgot-password', { email }, { tenant });
      const token = (await mailed(email, /password/i)).link.split('#token=')[1];
      return rest.post('/api/v1/auth/reset-password', { token, new_password: NEW_PASSWORD });
    },
  },
  { what: 'the end of all sessions', end: (person) => by(0, person).delete('/api/v1/me/sessions') },
  {
    what: 'the end of all sessions by an administrator',
    end: ({ userId }) => by(0, owner).post(`/api/v1/admin/users/${userId}/revoke-sessions`),
  },
  {
    what: 'disabling and enabling the user',
    end: async (person) => {
      expectStatus(await setStatus(person, 'disabled'), 200);
      return setStatus(person, 'active');
    },
  },
])('P3 the sign-in of a token without a session counts in no service after $what', async (row) => {
  const person = await addAdmin();
  const access = await byMailedCode(person);
  expect(await seen(access)).toEqual(all('recent'));
  const ended = await row.end(person);
  expect(ended.status).toBe(200);
  expect(await seen(access)).toEqual(all('stale'));
  const approval = await askFor(person);
  const approve = (replica: number, bearer: string) =>
    by(replica, { ...person, access: bearer }).post(`/api/v1/ciba/requests/${approval}/approve`);
  for (const replica of [0, 1])
    expect((await approve(replica, access)).code).toBe('step_up_required');
});
