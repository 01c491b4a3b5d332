/**
 * An agent requests access to a field, an administrator approves, and the vends of both replicas succeed. None succeeds
 * after the time is over, by a clock that the test moves.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Clock, systemClock } from '@cardea/runtime';
import { services } from '@cardea/standalone';
import {
  needRedis,
  type RedisServer,
  type RestDriver,
  type ServiceFixture,
  serviceFixture,
  startRedis,
  testDatabase,
  untilTrue,
} from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHEAP_HASHES } from '../faults/instance.ts';
import { expectStatus, PASSWORD, type Person, type Users, usersOf } from '../security/users.ts';
import { hasRequests, PYTHON } from './python.ts';

const START_MS_MAX = 240_000;
const TEST_MS_MAX = 120_000;
const ACCESS = '/api/v1/ciba/access-requests';
const REQUESTS = '/api/v1/ciba/requests';
const SECONDS = 300;
const GRANT = { service_name: 'warehouse', fields: ['password'] };
const NAMES = ['identity', 'authz', 'approval', 'vault'];

const AGENT = fileURLToPath(new URL('access-agent.py', import.meta.url));

let offsetMs = 0;
const clock: Clock = { ...systemClock, now: () => new Date(Date.now() + offsetMs) };

const database = testDatabase();
needRedis();
let redis: RedisServer | undefined;
const replicas: ServiceFixture[] = [];
beforeAll(async () => {
  redis = await startRedis();
  for (let count = 0; count < 2; count += 1) {
    const replica = await serviceFixture({
      databaseUrl: database.url,
      definitions: services.filter(({ name }) => NAMES.includes(name)),
      clock,
      env: {
        ...CHEAP_HASHES,
        RATE_LIMIT_FACTOR: '1000',
        PUBLIC_URL: 'http://cardea.test',
        ENCRYPTION_KEY: 'e0'.repeat(32),
        JWT_SECRET: 'a secret of both replicas, long enough',
        REDIS_URL: redis.url,
      },
    });
    replicas.push(replica);
  }
}, START_MS_MAX);
afterAll(async () => {
  for (const replica of replicas) await replica.stop();
  await redis?.kill();
});

const restOf = (at: number): RestDriver => {
  const replica = replicas[at];
  if (replica === undefined) throw new Error(`there is no replica ${at}`);
  return replica.rest;
};

/** Shared by all companies, so that no two people have the same address. */
let users: Users | undefined;

type Agent = { readonly id: string; readonly key: string };

async function company(name: string) {
  users ??= usersOf(restOf(0));
  const owner = await users.signUp(name);
  const { tenantId: tenant } = owner;
  const admin = (at = 0) => restOf(at).as({ bearer: owner.access, tenant });
  const service = {
    name: GRANT.service_name,
    credential_type: 'static',
    fields: GRANT.fields.map((field) => ({ name: field })),
  };
  expectStatus(await admin().post('/api/v1/vault/services', service), 201);
  const secrets = `/api/v1/vault/services/${GRANT.service_name}/secrets`;
  expectStatus(await admin().put(secrets, { fields: { password: 'kept' } }), 200);
  const made = await admin().post('/api/v1/agents', { name: 'bot' });
  expectStatus(made, 201);
  const key = await admin().post(`/api/v1/agents/${made.body.id}/keys`, { name: 'first' });
  expectStatus(key, 201);
  const agent: Agent = { id: made.body.id, key: key.body.key };
  const own = (at = 0) => restOf(at).as({ bearer: agent.key, tenant });
  return { owner, tenant, admin, agent, own, users };
}
type Company = Awaited<ReturnType<typeof company>>;

const ask = async ({ own }: Company): Promise<string> => {
  const asked = await own().post(ACCESS, { services: [GRANT], duration_seconds: SECONDS });
  expectStatus(asked, 201);
  return asked.body.id;
};
const approve = (at: number, { access: bearer, tenantId: tenant }: Person, id: string) =>
  restOf(at).post(`${REQUESTS}/${id}/approve`, {}, { bearer, tenant });

async function begin({ own }: Company, granted: readonly object[] = [GRANT]) {
  const begun = await own().post('/api/v1/agent/sessions', {
    services: granted,
    ttl_seconds: 3_600,
  });
  return { status: begun.status, code: begun.code, data: begun.body.data };
}
type Session = Awaited<ReturnType<typeof begin>>['data'];

const vend = ({ tenant, agent }: Company, at: number, session: Session) =>
  restOf(at).post(`/api/v1/agent/sessions/${session.id}/credentials`, GRANT, {
    bearer: agent.key,
    tenant,
    headers: { 'x-service-token': session.capability_token },
  });

describe('an agent that lacks a field', () => {
  it('approval 31 asks, an administrator approves, and both replicas vend it until the time is over', {
    timeout: TEST_MS_MAX,
  }, async () => {
    const firm = await company('Access');
    const poor = await begin(firm, []);
    const refused = await vend(firm, 0, poor.data);
    expect(refused).toMatchObject({ status: 403, code: 'CREDENTIAL_SCOPE_DENIED' });
    expect(refused.body.error.details).toEqual({
      fields: GRANT.fields,
      request_access: `POST ${ACCESS}`,
    });
    const id = await ask(firm);
    expect((await begin(firm)).code).toBe('scope_not_granted');
    expectStatus(await approve(1, firm.owner, id), 200);
    const session = await untilTrue(
      async () => {
        const begun = await begin(firm);
        return begun.status === 201 ? begun.data : undefined;
      },
      { what: 'the agent has its access' },
    );
    const [entry] = (await firm.admin(1).get(`/api/v1/agents/${firm.agent.id}`)).body.services;
    expect(entry).toMatchObject({ ...GRANT, approval_id: id });
    for (const at of [0, 1]) {
      const vended = await vend(firm, at, session);
      expectStatus(vended, 200);
      expect(vended.body.data.fields).toEqual({ password: 'kept' });
      expect(Date.parse(vended.body.data.expires_at)).toBeLessThanOrEqual(Date.parse(entry.until));
    }
    // The session that began before the access was given still does not have it.
    expect((await vend(firm, 1, poor.data)).code).toBe('CREDENTIAL_SCOPE_DENIED');
    offsetMs += SECONDS * 1_000;
    for (const at of [0, 1]) {
      expect((await vend(firm, at, session)).code).toBe('CREDENTIAL_SCOPE_DENIED');
    }
    expect((await begin(firm)).code).toBe('scope_not_granted');
    const { services: left } = (await firm.admin().get(`/api/v1/agents/${firm.agent.id}`)).body;
    expect(left).toEqual([]);
  });

  it.skipIf(!hasRequests())(
    'approval 31 is a stock one in Python, which asks, waits and vends',
    { timeout: TEST_MS_MAX },
    async () => {
      const firm = await company('Python');
      const agent = spawn(PYTHON, [AGENT], {
        env: {
          PATH: process.env['PATH'],
          HOME: process.env['HOME'],
          CARDEA: replicas[0]?.baseUrl,
          TENANT: firm.tenant,
          AGENT_KEY: firm.agent.key,
        },
      });
      let output = '';
      for (const stream of [agent.stdout, agent.stderr]) {
        stream.setEncoding('utf8').on('data', (chunk: string) => {
          output += chunk;
        });
      }
      const ended = once(agent, 'exit');
      const id = await untilTrue(() => /^CREDENTIAL_SCOPE_DENIED (\S+)$/m.exec(output)?.[1], {
        what: 'the agent has asked',
      });
      expectStatus(await approve(1, firm.owner, id), 200);
      await ended;
      expect(output).toContain('approved kept');
    },
  );

  it('approval 31 gets nothing by a member, nor where agents may not ask', {
    timeout: TEST_MS_MAX,
  }, async () => {
    const firm = await company('Members');
    const email = firm.users.newEmail();
    const account = { email, password: PASSWORD, email_verified: true };
    const member = await firm.admin().post('/api/v1/admin/users', account);
    expectStatus(member, 201);
    const path = `/api/v1/admin/users/${member.body.id}`;
    expectStatus(await firm.admin().patch(path, { vouched: true }), 200);
    const tenantPath = `/api/v1/admin/tenants/${firm.tenant}`;
    const set = (agent_access: object | null) =>
      firm.admin().patch(tenantPath, { settings: { agent_access } });
    const team = { relation: 'editor', object_type: 'team', object_id: 'access' };
    for (const user_id of [member.body.id, firm.owner.userId]) {
      const tuple = { user_type: 'user', user_id, ...team };
      expectStatus(await firm.admin().post('/api/v1/fga/tuples', tuple), 201);
    }
    expectStatus(await set({ approver: team }), 200);
    const asked = await untilTrue(async () => {
      const made = await firm.own().post(ACCESS, { services: [GRANT], duration_seconds: SECONDS });
      return made.body.user_id === 'team:access#editor' ? made.body.id : undefined;
    });
    const signedIn = await firm.users.logIn({ tenantId: firm.tenant, email });
    expect((await approve(0, signedIn, asked)).code).toBe('approver_not_admin');
    expectStatus(await set(null), 200);
    const off = await untilTrue(async () => {
      const made = await firm.own().post(ACCESS, { services: [GRANT], duration_seconds: SECONDS });
      return made.status === 403 ? made.code : undefined;
    });
    expect(off).toBe('access_requests_off');
    const poor = await begin(firm, []);
    const details = await untilTrue(async () => {
      const { body } = await vend(firm, 1, poor.data);
      return body.error.details.request_access === undefined ? body.error.details : undefined;
    });
    expect(details).toEqual({ fields: GRANT.fields });
    expect((await firm.admin().get(`/api/v1/agents/${firm.agent.id}`)).body.services).toEqual([]);
  });
});
