/** Vends that somebody has to approve: a person, or one of a set. */
import { randomBytes } from 'node:crypto';
import type { RestDriver } from '@cardea/testing';
import { ok, PASSWORD, signUp } from './sign-up.ts';

const SET = { relation: 'member', object_type: 'group', object_id: 'approvers' };
const FIELD = 'password';
/** A user may have five open requests of an agent. */
const AGENTS_PER_CALLER = 4;

export type GatedVends = {
  /** An agent session asks, the approver says yes, and the session gets the value. */
  readonly toPerson: (caller: number) => Promise<void>;
  /** Works like `toPerson`, but each member of a set may approve. */
  readonly toSet: (caller: number) => Promise<void>;
};

type Asked = { readonly service: string; readonly caller: number; readonly approver: RestDriver };

export async function gatedVends(
  rest: RestDriver,
  { callers, holders }: { readonly callers: number; readonly holders: number },
): Promise<GatedVends> {
  const owner = await signUp(rest, `gated-${randomBytes(4).toString('hex')}`);
  const people: { readonly id: string; readonly rest: RestDriver }[] = [];
  while (people.length < holders) people.push(await holderOf(rest, owner, people.length));
  const [person] = people;
  if (person === undefined) throw new Error('nobody holds the relation');
  await gatedService(owner.rest, 'by-person', { user_id: person.id });
  await gatedService(owner.rest, 'by-set', SET);
  const agents: RestDriver[] = [];
  while (agents.length < callers * AGENTS_PER_CALLER) agents.push(await agentOf(rest, owner));
  let turn = 0;
  const vend = async ({ service, caller, approver }: Asked): Promise<void> => {
    const agent = agents[caller + callers * (turn++ % AGENTS_PER_CALLER)] as RestDriver;
    const services = [{ service_name: service, fields: [FIELD] }];
    const session = ok(await agent.post('/api/v1/agent/sessions', { services, purpose: 'bench' }));
    const { id, capability_token } = session.data;
    const to = `/api/v1/agent/sessions/${id}/credentials`;
    const asked = { service_name: service, fields: [FIELD] };
    const headers = { 'x-service-token': capability_token };
    const waiting = ok(await agent.post(to, asked, { headers }));
    const approval_id: string = waiting.data.approval_id;
    ok(await approver.post(`/api/v1/ciba/requests/${approval_id}/approve`, {}));
    const given = ok(await agent.post(to, { ...asked, approval_id }, { headers }));
    if (given.data.fields?.[FIELD] !== 'kept') throw new Error('no value was vended');
  };
  return {
    toPerson: (caller) => vend({ service: 'by-person', caller, approver: person.rest }),
    toSet: (caller) => {
      const { rest: approver } = people[turn % holders] as (typeof people)[number];
      return vend({ service: 'by-set', caller, approver });
    },
  };
}

type Administrator = { readonly rest: RestDriver; readonly tenant: string };

async function holderOf(rest: RestDriver, { rest: admin, tenant }: Administrator, at: number) {
  const login = { email: `holder-${at}@example.com`, password: PASSWORD };
  const { id } = ok(await admin.post('/api/v1/admin/users', { ...login, email_verified: true }));
  const tuple = { user_type: 'user', user_id: id as string, ...SET };
  ok(await admin.post('/api/v1/fga/tuples', tuple));
  const { access_token: bearer } = ok(await rest.post('/api/v1/auth/login', login, { tenant }));
  return { id: id as string, rest: rest.as({ bearer, tenant }) };
}

async function gatedService(admin: RestDriver, name: string, approver: object): Promise<void> {
  const service = { name, credential_type: 'static', fields: [{ name: FIELD }] };
  ok(await admin.post('/api/v1/vault/services', service));
  ok(await admin.put(`/api/v1/vault/services/${name}/secrets`, { fields: { [FIELD]: 'kept' } }));
  const terms = { service_name: name, fields: '*', agent_ids: '*', effect: 'require_approval' };
  ok(await admin.post('/api/v1/vault/approval-policies', { name, ...terms, approver }));
}

async function agentOf(rest: RestDriver, { rest: admin, tenant }: Administrator) {
  const services = ['by-person', 'by-set'].map((service_name) => ({ service_name, fields: ['*'] }));
  const agent = { name: `agent ${randomBytes(4).toString('hex')}`, services };
  const { id } = ok(await admin.post('/api/v1/agents', agent));
  const { key } = ok(await admin.post(`/api/v1/agents/${id}/keys`, { name: 'k' }));
  return rest.as({ bearer: key, tenant });
}
