/** Vends that require an approval by a person, or by one of a set. */
import { randomBytes } from 'node:crypto';
import type { RestDriver } from '@cardea/testing';
import { ok, PASSWORD, signUp } from './sign-up.ts';

const SET = { relation: 'member', object_type: 'group', object_id: 'approvers' };
const FIELD = 'password';
/**
 * The number of requests for approval that an agent may send to one person or set within a minute
 * (`docs/design/approval.md`).
 */
const VENDS_PER_AGENT_MAX = 20;
/** More vends per second than any machine has reached. */
const VENDS_PER_SECOND_MAX = 250;

export type GatedVends = {
  /** Creates agents for a measurement of this length, so that none of them meets the limit of an agent. */
  readonly prepare: (seconds: number) => Promise<void>;
  /** Whether the agents have sent as many requests as they may. */
  readonly isExhausted: () => boolean;
  /** An agent session requests a value, the approver approves, and the session gets the value. */
  readonly toPerson: () => Promise<void>;
  /** Works like `toPerson`, but each member of a set may approve. */
  readonly toSet: () => Promise<void>;
};

type Asked = { readonly service: string; readonly approver: RestDriver };

export async function gatedVends(
  rest: RestDriver,
  { holders }: { readonly holders: number },
): Promise<GatedVends> {
  const owner = await signUp(rest, `gated-${randomBytes(4).toString('hex')}`);
  const people: { readonly id: string; readonly rest: RestDriver }[] = [];
  while (people.length < holders) people.push(await holderOf(rest, owner, people.length));
  const [person] = people;
  if (person === undefined) throw new Error('nobody holds the relation');
  await gatedService(owner.rest, 'by-person', { user_id: person.id });
  await gatedService(owner.rest, 'by-set', SET);
  let agents: RestDriver[] = [];
  let turn = 0;
  const vend = async ({ service, approver }: Asked): Promise<void> => {
    const agent = agents[turn++ % agents.length] as RestDriver;
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
    prepare: async (seconds) => {
      const count = Math.ceil((seconds * VENDS_PER_SECOND_MAX) / VENDS_PER_AGENT_MAX);
      const made: RestDriver[] = [];
      while (made.length < count) made.push(await agentOf(rest, owner));
      agents = made;
      turn = 0;
    },
    isExhausted: () => turn >= agents.length * VENDS_PER_AGENT_MAX,
    toPerson: () => vend({ service: 'by-person', approver: person.rest }),
    toSet: () => {
      const { rest: approver } = people[turn % holders] as (typeof people)[number];
      return vend({ service: 'by-set', approver });
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
