/** Tests that a user can end what agents do for them, on two replicas. */
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
import { claimsOf, expectStatus, PASSWORD, type Person, type Users, usersOf } from './users.ts';

const SERVICE = 'warehouse';
const FIELDS = ['password'];
const GRANT = { service_name: SERVICE, fields: FIELDS };
const NEW_PASSWORD = 'another long enough phrase';

needRedis();
const database = testDatabase();
const folder = mkdtempSync(join(tmpdir(), 'cardea-agent-sessions-'));
const replicas: ServiceFixture[] = [];
let stopRedis: (() => Promise<unknown>) | undefined;
let users: Users;
let owner: Person;
let agent: { readonly id: string; readonly key: string };

beforeAll(async () => {
  const redis = await startRedis();
  stopRedis = () => redis.stop();
  const options = {
    databaseUrl: database.url,
    definitions: services.filter(({ name }) => ['identity', 'vault', 'approval'].includes(name)),
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
  const service = { name: SERVICE, credential_type: 'static', fields: [{ name: 'password' }] };
  expectStatus(await admin.post('/api/v1/vault/services', service), 201);
  const secrets = { fields: { password: 'a secret' } };
  expectStatus(await admin.put(`/api/v1/vault/services/${SERVICE}/secrets`, secrets), 200);
  const made = await admin.post('/api/v1/agents', { name: 'porter', services: [GRANT] });
  expectStatus(made, 201);
  const key = await admin.post(`/api/v1/agents/${made.body.id}/keys`, { name: 'k' });
  agent = { id: made.body.id, key: key.body.key };
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
const by = (replica: number, { access, tenantId }: Person) =>
  at(replica).rest.as({ bearer: access, tenant: tenantId });
const byAgent = (replica: number) =>
  at(replica).rest.as({ bearer: agent.key, tenant: owner.tenantId });

type Session = { readonly id: string; readonly capability: string };

async function startSession(subject: object): Promise<Session> {
  const answer = await byAgent(0).post('/api/v1/agent/sessions', {
    services: [GRANT],
    ...subject,
  });
  expectStatus(answer, 201);
  return { id: answer.body.data.id, capability: answer.body.data.capability_token };
}
const byToken = ({ access }: Person) => startSession({ subject_token: access });
const byDelegation = async (person: Person) => {
  const given = { agent_id: agent.id, services: [GRANT] };
  expectStatus(await by(0, person).post('/api/v1/me/delegations', given), 201);
  return startSession({ user_id: person.userId });
};

const vend = (replica: number, { id, capability }: Session) =>
  byAgent(replica).post(
    `/api/v1/agent/sessions/${id}/credentials`,
    { service_name: SERVICE, fields: FIELDS },
    { headers: { 'x-service-token': capability } },
  );
const renew = (replica: number, { id }: Session) =>
  byAgent(replica).post(`/api/v1/agent/sessions/${id}/tokens`);

/** The results of vends and renewals at both replicas, requested concurrently. */
async function seen(session: Session): Promise<readonly string[]> {
  const answers = await Promise.all(
    replicas.flatMap((_, replica) => [vend(replica, session), renew(replica, session)]),
  );
  return answers.map(({ status, code }) => `${status} ${code ?? 'ok'}`);
}
const GOES_ON = ['200 ok', '201 ok', '200 ok', '201 ok'];
const OVER = ['404 NOT_FOUND', '410 session_ended', '404 NOT_FOUND', '410 session_ended'];

const changePassword = (person: Person) =>
  by(0, person).post('/api/v1/user/change-password', {
    current_password: PASSWORD,
    new_password: NEW_PASSWORD,
  });
const sidOf = ({ access }: Person): string => (claimsOf(access) as { sid: string }).sid;

async function resetPassword({ tenantId: tenant, email }: Person): Promise<RestAnswer> {
  await at(0).rest.post('/api/v1/auth/forgot-password', { email }, { tenant });
  const link = await untilTrue(
    async () => {
      const { body } = await at(0).rest.get('/dev/mailbox', { query: { to: email } });
      const mails: readonly { subject: string; link: string | null }[] = body.messages;
      return mails.find(({ subject, link }) => link !== null && /password/i.test(subject))?.link;
    },
    { what: 'the mail' },
  );
  const token = link.split('#token=')[1] ?? '';
  return at(0).rest.post('/api/v1/auth/reset-password', { token, new_password: NEW_PASSWORD });
}

const replayRefresh = async ({ refresh }: Person): Promise<RestAnswer> => {
  const show = (token: string, agentName: string) =>
    at(0).rest.post(
      '/api/v1/auth/refresh',
      { refresh_token: token },
      { headers: { 'user-agent': agentName } },
    );
  // A token that was replaced twice is no retry of a lost answer, however soon it comes.
  const { body } = await show(refresh, 'the owner');
  await show(body.refresh_token, 'the owner');
  return show(refresh, 'a thief');
};

const endAll = (person: Person) => by(0, person).delete('/api/v1/me/sessions');
it.each<{ what: string; start: (person: Person) => Promise<Session>; end: End }>([
  { what: 'its user changes the password', start: byToken, end: changePassword },
  { what: 'its user resets the password', start: byToken, end: resetPassword },
  {
    what: 'its user ends all other sessions than the login it came from',
    start: byToken,
    end: async (person) => endAll(await users.logIn(person)),
  },
  {
    what: 'its user ends the login it came from',
    start: byToken,
    end: async (person) =>
      by(0, await users.logIn(person)).delete(`/api/v1/me/sessions/${sidOf(person)}`),
  },
  { what: 'a thief shows the refresh token of that login', start: byToken, end: replayRefresh },
  {
    what: 'by a delegation, its user resets the password',
    start: byDelegation,
    end: resetPassword,
  },
  { what: 'by a delegation, its user ends all sessions', start: byDelegation, end: endAll },
])('S11 identity 7 an agent session gets nothing at any replica once $what', async (row) => {
  const person = await users.addUser(owner, ['member']);
  const session = await row.start(person);
  expect(await seen(session)).toEqual(GOES_ON);
  const ended = await row.end(person);
  expect([200, 401]).toContain(ended.status);
  expect(await seen(session)).toEqual(OVER);
  await untilTrue(
    async () => {
      const { body } = await by(1, owner).get(`/api/v1/agent/sessions/${session.id}`);
      return body.data.status === 'ended';
    },
    { what: 'the end of the session in the list' },
  );
});

type End = (person: Person) => Promise<RestAnswer>;

it.each<{ what: string; start: (person: Person) => Promise<Session>; end: End }>([
  {
    what: 'its user ends all sessions but the login it came from',
    start: byToken,
    end: endAll,
  },
  {
    what: 'by a delegation, its user changes the password',
    start: byDelegation,
    end: changePassword,
  },
])('an agent session goes on when $what', async ({ start, end }) => {
  const person = await users.addUser(owner, ['member']);
  const session = await start(person);
  expect((await end(person)).status).toBe(200);
  expect(await seen(session)).toEqual(GOES_ON);
});

it('a delegation that stands starts a new session after all were ended', async () => {
  const person = await users.addUser(owner, ['member']);
  await byDelegation(person);
  expect((await endAll(person)).status).toBe(200);
  expect(await seen(await startSession({ user_id: person.userId }))).toEqual(GOES_ON);
});
