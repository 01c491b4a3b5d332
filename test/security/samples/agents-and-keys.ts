/** Requests to the endpoints of API keys, agents, their keys, delegations and sessions. */

import { SERVICE_GRANT, startSession } from '../agents-and-keys.ts';
import type { Fortress } from '../fortress.ts';
import type { Ask, Sample, Samples } from '../sample.ts';
import { expectStatus } from '../users.ts';

let made = 0;
const freshName = () => {
  made += 1;
  return `machine ${made}`;
};
const adminOf = ({ rest, a }: Fortress) => rest.as({ bearer: a.owner.access, tenant: a.tenantId });
const byAdmin = (ask: Sample['ask'] = () => ({})): Sample => ({ by: 'admin', ask });

async function made201(world: Fortress, path: string, body: object): Promise<string> {
  const answer = await adminOf(world).post(path, body);
  expectStatus(answer, 201);
  return answer.body.id;
}

const newKey = () => ({ name: freshName(), scopes: ['fga:read'] });
const newAgent = () => ({ name: freshName(), services: [SERVICE_GRANT] });
const someKey = async (world: Fortress): Promise<Ask> => ({
  params: { id: await made201(world, '/api/v1/api-keys', newKey()) },
});
const someAgent = async (world: Fortress) => ({
  params: { id: await made201(world, '/api/v1/agents', newAgent()) },
});
async function someAgentKey(world: Fortress) {
  const { id } = (await someAgent(world)).params;
  const key_id = await made201(world, `/api/v1/agents/${id}/keys`, { name: freshName() });
  return { params: { id, key_id } };
}

const delegation = (agent_id: string) => ({ agent_id, services: [SERVICE_GRANT] });
async function someDelegation(world: Fortress): Promise<Ask> {
  const { id } = (await someAgent(world)).params;
  const { access: bearer } = world.a.member;
  const granted = await world.rest.post('/api/v1/me/delegations', delegation(id), { bearer });
  expectStatus(granted, 201);
  return { params: { id: granted.body.id } };
}
/** Each caller withdraws what the member has granted; other callers cannot find it. */
const ONLY_OWN = { 'system admin': 404, owner: 404, admin: 404 };

/** A session that is still live, because other samples end the member's first one. */
const sessionFor = async ({ a, logIn }: Fortress) => ({
  services: [SERVICE_GRANT],
  subject_token: (await logIn(a.member)).access,
});
async function someSession({ a, rest, logIn }: Fortress) {
  const subject = await logIn(a.member);
  const { sessionId: id } = await startSession(rest, subject, a.agentsAndKeys.agent.key);
  return { params: { id } };
}

export const machineSamples: Samples = {
  create_api_key: byAdmin(() => ({ body: newKey() })),
  list_api_keys: byAdmin(),
  list_api_key_scopes: byAdmin(),
  rotate_api_key: byAdmin(async (world) => ({ ...(await someKey(world)), body: {} })),
  revoke_api_key: byAdmin(someKey),
  create_agent: byAdmin(() => ({ body: newAgent() })),
  list_agents: byAdmin(),
  get_agent: byAdmin(someAgent),
  update_agent: byAdmin(async (world) => ({
    ...(await someAgent(world)),
    body: { status: 'suspended' },
  })),
  delete_agent: byAdmin(someAgent),
  create_agent_key: byAdmin(async (world) => ({
    ...(await someAgent(world)),
    body: { name: freshName() },
  })),
  list_agent_keys: byAdmin(someAgent),
  rotate_agent_key: byAdmin(async (world) => ({ ...(await someAgentKey(world)), body: {} })),
  revoke_agent_key: byAdmin(someAgentKey),
  list_my_agents: { by: 'member', ask: () => ({}) },
  list_delegations: { by: 'member', ask: () => ({}) },
  grant_delegation: {
    by: 'member',
    ask: async (world) => ({ body: delegation((await someAgent(world)).params.id) }),
  },
  withdraw_all_delegations: { by: 'member', ask: () => ({}) },
  withdraw_delegation: { by: 'member', ask: someDelegation, but: ONLY_OWN },
  start_agent_session: {
    by: 'agent key',
    ask: async (world) => ({ body: await sessionFor(world) }),
  },
  issue_agent_tokens: {
    by: 'agent key',
    ask: async (world) => ({ ...(await someSession(world)), body: {} }),
  },
  list_agent_sessions: { by: 'agent key', ask: () => ({}) },
  get_agent_session: { by: 'agent key', ask: someSession },
  end_agent_session: { by: 'agent key', ask: someSession },
};
