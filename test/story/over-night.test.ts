/**
 * Approvals over night, over HTTP only. An agent sends a request in the evening, and its session and its process end.
 * The person decides the next day, and the agent, after a restart, uses the approval once.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { processFixture, type RestAnswer, testDatabase, untilTrue } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { type Instance, instance } from '../faults/instance.ts';
import { PLAYED_MS_MAX, starts } from './deleted-tenant.ts';
import { hasRequests, PYTHON } from './python.ts';

const AGENT = fileURLToPath(new URL('night-agent.py', import.meta.url));
const VAULT = '/api/v1/vault';
const REQUESTS = '/api/v1/ciba/requests';
const PASSWORD = 'a long password of somebody';
const fixture = processFixture();
const database = testDatabase();

type Made = { readonly cardea: Instance; readonly key: string; readonly tenant: string };
type Use = {
  readonly user: string;
  readonly purpose?: string;
  readonly fields?: readonly string[];
};
const told = ({ status, code }: RestAnswer) => `${status} ${code ?? ''}`.trim();

async function person({ cardea, tenant }: Made, name: string) {
  const body = { email: `${name}@example.com`, password: PASSWORD };
  const answer = await cardea.rest.post('/api/v1/auth/login', body, { tenant });
  expect(answer.status).toBe(200);
  return cardea.rest.as({ bearer: answer.body.access_token, tenant });
}
const tokenOf = async ({ cardea, tenant }: Made, name: string): Promise<string> => {
  const body = { email: `${name}@example.com`, password: PASSWORD };
  return (await cardea.rest.post('/api/v1/auth/login', body, { tenant })).body.access_token;
};

/** A session of the agent. `vend` requests the one service. */
async function session(made: Made, { user, purpose = 'Nightly report', fields }: Use) {
  const { cardea, key, tenant } = made;
  const services = [{ service_name: 'warehouse', fields: fields ?? ['password'] }];
  const begin = { services, subject_token: await tokenOf(made, user), purpose };
  const begun = await cardea.rest.post('/api/v1/agent/sessions', begin, { bearer: key, tenant });
  expect(begun.status).toBe(201);
  const { id, capability_token } = begun.body.data;
  return (more: object = {}) =>
    cardea.rest.post(
      `/api/v1/agent/sessions/${id}/credentials`,
      { service_name: 'warehouse', fields: ['password'], ...more },
      { bearer: key, tenant, headers: { 'x-service-token': capability_token } },
    );
}

describe('an approval over night', () => {
  it.skipIf(!hasRequests())(
    'approval 29 is asked in the evening, given the next day, and used once by a new session of a stock agent',
    async () => {
      const later = starts('over-night');
      const cardea = await instance(fixture, { DATABASE_URL: database.url, ...later.env });
      const evening = await cardea.start();
      const made = await company(cardea);
      const play = (...args: readonly string[]) => agent(made, args);
      const [sessionId = '', approval = ''] = (await play()).split(' ');
      const admin = async () => cardea.rest.as(await cardea.admin());
      const bound = await session(made, { user: 'ben' });
      expect((await bound()).body.data.approval_id).toBe(approval);
      const ended = await (await admin()).delete(`/api/v1/agent/sessions/${sessionId}`);
      expect(ended.status).toBe(200);
      expect(await evening.end('SIGTERM')).toBe(0);

      later.set({ days: 1 });
      const morning = await cardea.start();
      const ada = await person(made, 'ada');
      const [waiting] = (await ada.get('/api/v1/ciba/pending')).body.requests;
      expect(waiting).toMatchObject({ id: approval, status: 'pending' });
      const using = play(approval);
      expect(told(await ada.post(`${REQUESTS}/${approval}/approve`))).toBe('200');
      expect(await using).toBe('approved correct horse');
      const other = await session(made, { user: 'ben' });
      expect(told(await other({ approval_id: approval }))).toBe('409 APPROVAL_CONSUMED');

      await refusals(made);
      expect(await morning.end('SIGTERM')).toBe(0);
    },
    PLAYED_MS_MAX,
  );
});

const agent = async (made: Made, args: readonly string[]): Promise<string> => {
  const env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    CARDEA: made.cardea.base,
    TENANT: made.tenant,
    AGENT_KEY: made.key,
    USER_TOKEN: await tokenOf(made, 'ben'),
  };
  const { stdout } = await promisify(execFile)(PYTHON, [AGENT, ...args], { env });
  return stdout.trim();
};

/** Ada approves what the agent does for others. A policy names her and gives her a week. */
async function company(cardea: Instance): Promise<Made> {
  const { bearer, tenant } = await cardea.admin();
  const admin = cardea.rest.as({ bearer, tenant });
  const made = async (answer: Promise<RestAnswer>) => {
    const { status, body, text } = await answer;
    if (status > 201) throw new Error(`${status} ${text}`);
    return body;
  };
  const ids: { [name: string]: string } = {};
  for (const name of ['ada', 'ben', 'eve']) {
    const account = { email: `${name}@example.com`, password: PASSWORD, email_verified: true };
    ids[name] = (await made(admin.post('/api/v1/admin/users', account))).id;
  }
  await made(admin.patch(`/api/v1/admin/users/${ids['ada']}`, { vouched: true }));
  const fields = [{ name: 'username' }, { name: 'password' }];
  const service = { name: 'warehouse', credential_type: 'static', fields };
  await made(admin.post(`${VAULT}/services`, service));
  const values = { fields: { username: 'reports', password: 'correct horse' } };
  await made(admin.put(`${VAULT}/services/warehouse/secrets`, values));
  const policy = {
    ...{ name: 'Over night', service_name: 'warehouse', fields: '*', agent_ids: '*' },
    ...{ effect: 'require_approval', approver: { user_id: ids['ada'] } },
    ...{ ttl_seconds: 604_800, use_window_seconds: 604_800 },
  };
  await made(admin.post(`${VAULT}/approval-policies`, policy));
  const services = [{ service_name: 'warehouse', fields: ['username', 'password'] }];
  const { id } = await made(admin.post('/api/v1/agents', { name: 'reporter', services }));
  const { key } = await made(admin.post(`/api/v1/agents/${id}/keys`, { name: 'ci' }));
  return { cardea, key, tenant };
}

/** Sessions that must not use the approval of another session. */
async function refusals(made: Made): Promise<void> {
  const admin = made.cardea.rest.as(await made.cardea.admin());
  const ada = await person(made, 'ada');
  const approved = async (): Promise<string> => {
    const vend = await session(made, { user: 'ben' });
    const { approval_id } = (await vend()).body.data;
    expect(told(await ada.post(`${REQUESTS}/${approval_id}/approve`))).toBe('200');
    return approval_id;
  };
  const approval_id = await approved();
  const used = async (use: Use) => told(await (await session(made, use))({ approval_id }));
  expect(await used({ user: 'eve' })).toBe('403 APPROVAL_MISMATCH');
  expect(await used({ user: 'ben', purpose: 'Another report' })).toBe('403 APPROVAL_MISMATCH');
  const narrow = { user: 'ben', fields: ['username'] };
  expect(await used(narrow)).toBe('403 CREDENTIAL_SCOPE_DENIED');
  const { users } = (
    await admin.get('/api/v1/admin/users', { query: { email: 'ada@example.com' } })
  ).body;
  const vouch = (vouched: boolean) =>
    admin.patch(`/api/v1/admin/users/${users[0].id}`, { vouched });
  await vouch(false);
  expect(await used({ user: 'ben' })).toBe('403 NO_APPROVER');
  await vouch(true);
  const two = [await session(made, { user: 'ben' }), await session(made, { user: 'ben' })];
  const both = await Promise.all(two.map((vend) => vend({ approval_id })));
  expect(both.map(told).toSorted()).toEqual(['200', '409 APPROVAL_CONSUMED']);

  const next = await approved();
  const { policies } = (await admin.get(`${VAULT}/approval-policies`)).body;
  const changed = await admin.patch(`${VAULT}/approval-policies/${policies[0].id}`, {
    severity: 'high',
  });
  expect(changed.status).toBe(200);
  const vend = await session(made, { user: 'ben' });
  await untilTrue(async () => told(await vend({ approval_id: next })) === '403 APPROVAL_MISMATCH');
}
