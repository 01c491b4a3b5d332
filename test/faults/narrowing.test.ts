/**
 * A reduction of authority at identity is effective when it answers, also on vault replicas that have not
 * received the event.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ServiceProcess, serviceProcess } from '@cardea/cluster';
import type { ServiceName } from '@cardea/contracts';
import {
  freePorts,
  needRedis,
  type RedisServer,
  type RestAnswer,
  type RestDriver,
  restDriver,
  startRedis,
  testDatabase,
  testForm,
  untilTrue,
} from '@cardea/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CHEAP_HASHES } from './instance.ts';

const ROUNDS = testForm.long ? 100 : 6;
const ROUNDS_PER_AGENT = 40;
/** Vends that begin after each answer, on each replica. */
const LATER_VENDS = 5;
const START_MS_MAX = 400_000;
const STOP_MS_MAX = 60_000;
const TEST_MS_MAX = 600_000;
const HOST = '127.0.0.1';
const PROCESSES = [
  ['identity', 1],
  ['approval', 1],
  ['vault', 1],
  ['vault', 2],
] as const satisfies readonly (readonly [ServiceName, number])[];

const database = testDatabase();
needRedis();
let redis: RedisServer | undefined;
const folder = mkdtempSync(join(tmpdir(), 'cardea-narrowing-'));
let processes: readonly ServiceProcess[] = [];
beforeAll(async () => {
  redis = await startRedis();
  const ports = await freePorts(PROCESSES.length * 3);
  const portsOf = PROCESSES.map((_each, at) => {
    const [api = 0, management = 0, internal = 0] = ports.slice(at * 3);
    return { api, management, internal };
  });
  const [identity, approval] = portsOf.map(({ internal }) => `http://${HOST}:${internal}`);
  const env = {
    ENV: 'development',
    LOG_LEVEL: 'warn',
    DATABASE_POOL_SIZE: '10',
    VAULT_SESSION_RATE: '100000',
    RATE_LIMIT_FACTOR: '1000',
    PUBLIC_URL: `http://${HOST}:${portsOf[0]?.api}`,
    SHUTDOWN_DELAY: '0s',
    ...CHEAP_HASHES,
    JWT_SECRET: randomBytes(32).toString('hex'),
    ENCRYPTION_KEY: randomBytes(32).toString('hex'),
    CARDEA_DATA: folder,
    HOST,
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    IDENTITY_INTERNAL_URL: identity ?? '',
    APPROVAL_INTERNAL_URL: approval ?? '',
  };
  processes = PROCESSES.map(([service, replica], at) =>
    serviceProcess({
      service,
      replica,
      ports: portsOf[at] ?? { api: 0, management: 0, internal: 0 },
      env,
      logFile: join(folder, `${service}-${replica}.log`),
    }),
  );
  await Promise.all(processes.map((each) => each.start()));
}, START_MS_MAX);
afterAll(async () => {
  await Promise.all(
    processes.filter(({ alive }) => alive).map((each) => each.end('SIGTERM', STOP_MS_MAX)),
  );
  await redis?.kill();
  rmSync(folder, { recursive: true, force: true });
}, STOP_MS_MAX);

const at = (name: string): RestDriver =>
  restDriver({ baseUrl: processes.find((each) => each.name === name)?.api ?? '' });

async function must(status: number, answer: Promise<RestAnswer>): Promise<RestAnswer> {
  const got = await answer;
  if (got.status !== status) throw new Error(`${got.status} instead of ${status}: ${got.text}`);
  return got;
}

const SERVICE = 'warehouse';
const FIELDS = ['user', 'password'];
const PASSWORD = 'a password that nobody guesses';
let companies = 0;

/** A company with an agent that has a session on behalf of its admin, and the requests to make. */
async function company() {
  companies += 1;
  const identity = at('identity-1');
  const email = `admin${companies}@example.com`;
  const signUp = { email, password: PASSWORD, company_name: `Company ${companies}` };
  const { body } = await must(201, identity.post('/api/v1/auth/signup', signUp));
  const { tenant_id: tenant, access_token: bearer, user_id: userId } = body;
  const admin = (name: string) => at(name).as({ bearer, tenant });
  const service = {
    name: SERVICE,
    credential_type: 'static',
    fields: FIELDS.map((name) => ({ name })),
  };
  await must(201, admin('vault-1').post('/api/v1/vault/services', service));
  const fields = { user: 'ann', password: 'kept' };
  const secrets = `/api/v1/vault/services/${SERVICE}/secrets`;
  await must(200, admin('vault-1').put(secrets, { fields }));
  const services = [{ service_name: SERVICE, fields: FIELDS }];
  const newAgent = { name: 'bot', services };
  const agent = await must(201, admin('identity-1').post('/api/v1/agents', newAgent));
  const agentPath = `/api/v1/agents/${agent.body.id}`;
  const { key } = (
    await must(201, admin('identity-1').post(`${agentPath}/keys`, { name: 'first' }))
  ).body;
  const ownAgent = identity.as({ bearer: key, tenant });
  const start = async () => {
    const asked = { services, subject_token: bearer };
    const started = await must(201, ownAgent.post('/api/v1/agent/sessions', asked));
    const { id, capability_token: capability } = started.body.data;
    return { id: id as string, capability: capability as string };
  };
  const vend = (name: string, of: Session, wanted: readonly string[], approval_id?: string) =>
    at(name).post(
      `/api/v1/agent/sessions/${of.id}/credentials`,
      { service_name: SERVICE, fields: wanted, ...(approval_id ? { approval_id } : {}) },
      { bearer: key, tenant, headers: { 'x-service-token': of.capability } },
    );
  return { tenant, userId, admin, agentPath, ownAgent, start, vend };
}
type Session = { readonly id: string; readonly capability: string };
type Vended = { readonly beganMs: number; readonly status: number; readonly code?: string };

const REPLICAS = ['vault-1', 'vault-2'];

/**
 * Vends continuously on each replica while `narrow` runs, and a few times after it has answered; returns
 * the vends that began after the answer.
 */
async function vendsAfter(
  vend: (replica: string) => Promise<RestAnswer>,
  narrow: () => Promise<unknown>,
): Promise<readonly Vended[]> {
  const vended: Vended[] = [];
  let answeredMs = Number.POSITIVE_INFINITY;
  const loops = REPLICAS.map(async (replica) => {
    for (let later = 0; later < LATER_VENDS; ) {
      const beganMs = performance.now();
      if (beganMs > answeredMs) later += 1;
      const { status, code } = await vend(replica);
      vended.push({ beganMs, status, ...(code === undefined ? {} : { code }) });
    }
  });
  await narrow();
  answeredMs = performance.now();
  await Promise.all(loops);
  return vended.filter(({ beganMs }) => beganMs > answeredMs);
}

const untilGranted = (vend: (replica: string) => Promise<RestAnswer>) =>
  untilTrue(async () => {
    const answers = await Promise.all(REPLICAS.map(vend));
    return answers.every(({ status }) => status === 200);
  });

it('S12 no vend that begins after an agent was narrowed grants what was taken, on any replica', {
  timeout: TEST_MS_MAX,
}, async () => {
  const { admin, agentPath, start, vend } = await company();
  const session = await start();
  const vendOn = (replica: string) => vend(replica, session, FIELDS);
  const reach = (fields: readonly string[]) =>
    must(
      200,
      admin('identity-1').patch(agentPath, { services: [{ service_name: SERVICE, fields }] }),
    );
  for (let round = 1; round <= ROUNDS; round += 1) {
    await untilGranted(vendOn);
    const later = await vendsAfter(vendOn, () => reach(['user']));
    expect(new Set(later.map(({ code }) => code)), `round ${round}`).toEqual(
      new Set(['CREDENTIAL_SCOPE_DENIED']),
    );
    await reach(FIELDS);
  }
});

it('S12 no vend that begins after a session was renewed with fewer services takes its older token, on any replica', {
  timeout: TEST_MS_MAX,
}, async () => {
  let { start, vend, ownAgent } = await company();
  for (let round = 1; round <= ROUNDS; round += 1) {
    // An agent may request tokens only so often in a minute.
    if (round % ROUNDS_PER_AGENT === 0) ({ start, vend, ownAgent } = await company());
    const session = await start();
    const vendOn = (replica: string) => vend(replica, session, FIELDS);
    await untilGranted(vendOn);
    const services = [{ service_name: SERVICE, fields: ['user'] }];
    const later = await vendsAfter(vendOn, () =>
      must(201, ownAgent.post(`/api/v1/agent/sessions/${session.id}/tokens`, { services })),
    );
    expect(new Set(later.map(({ code }) => code)), `round ${round}`).toEqual(
      new Set(['INVALID_CAPABILITY_TOKEN']),
    );
  }
});

it('S12 no vend that begins after a vouch was withdrawn hands out what that person allowed, on any replica', {
  timeout: TEST_MS_MAX,
}, async () => {
  const { admin, start, vend, userId, tenant } = await company();
  const email = 'approver@example.com';
  const user = { email, password: PASSWORD, email_verified: true };
  const approver = await must(201, admin('identity-1').post('/api/v1/admin/users', user));
  const path = `/api/v1/admin/users/${approver.body.id}`;
  const vouch = (vouched: boolean) => must(200, admin('identity-1').patch(path, { vouched }));
  const { body } = await must(
    200,
    at('identity-1').post('/api/v1/auth/login', { email, password: PASSWORD }, { tenant }),
  );
  const policy = {
    name: 'ask',
    service_name: SERVICE,
    fields: '*',
    agent_ids: '*',
    effect: 'require_approval',
    approver: { user_id: approver.body.id },
  };
  await must(201, admin('vault-1').post('/api/v1/vault/approval-policies', policy));
  expect(userId).not.toBe(approver.body.id);
  const session = await start();
  const { approval_id } = (await must(202, vend('vault-1', session, FIELDS))).body.data;
  const approve = `/api/v1/ciba/requests/${approval_id}/approve`;
  await must(200, at('approval-1').post(approve, {}, { bearer: body.access_token, tenant }));
  await must(200, vend('vault-1', session, FIELDS, approval_id));
  const vendOn = (replica: string) => vend(replica, session, FIELDS);
  for (let round = 1; round <= ROUNDS; round += 1) {
    await untilGranted(vendOn);
    const later = await vendsAfter(vendOn, () => vouch(false));
    expect(new Set(later.map(({ code }) => code)), `round ${round}`).toEqual(
      new Set(['NO_APPROVER']),
    );
    await vouch(true);
  }
});
