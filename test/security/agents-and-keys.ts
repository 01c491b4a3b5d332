/**
 * The callers of a tenant that are not users: API keys by their scopes, and an agent with an open session.
 */
import type { RestDriver } from '@cardea/testing';
import { expectStatus, type Person } from './users.ts';

export type AgentsAndKeys = {
  readonly keys: { readonly read: string; readonly write: string; readonly scopeless: string };
  readonly agent: Agent;
};
export type Agent = {
  readonly id: string;
  readonly key: string;
  readonly keyId: string;
  readonly sessionId: string;
  readonly token: string;
  readonly capability: string;
};

const AREAS = ['fga', 'users', 'agents', 'vault'];
export const SERVICE_GRANT = { service_name: 'billing', fields: ['api_key'] };

/** A caller that may write everything also sets what agents may reach. */
export const scopesOf = (right: 'read' | 'write'): readonly string[] => [
  ...AREAS.map((area) => `${area}:${right}`),
  ...(right === 'write' ? ['vault:grant'] : []),
];

/** The owner creates them; the agent acts for the member. */
export async function agentsAndKeysOf(
  rest: RestDriver,
  { owner, member }: { readonly owner: Person; readonly member: Person },
): Promise<AgentsAndKeys> {
  const by = rest.as({ bearer: owner.access, tenant: owner.tenantId });
  const keyWith = async (name: string, scopes: readonly string[]): Promise<string> => {
    const made = await by.post('/api/v1/api-keys', { name, scopes });
    expectStatus(made, 201);
    return made.body.key;
  };
  return {
    keys: {
      read: await keyWith('read', scopesOf('read')),
      write: await keyWith('write', scopesOf('write')),
      // A key has at least one scope; this one allows no endpoint of the API.
      scopeless: await keyWith('scopeless', ['tokens:introspect']),
    },
    agent: await agentOf(rest, owner, member),
  };
}

async function agentOf(rest: RestDriver, owner: Person, member: Person): Promise<Agent> {
  const by = rest.as({ bearer: owner.access, tenant: owner.tenantId });
  const agent = await by.post('/api/v1/agents', { name: 'porter', services: [SERVICE_GRANT] });
  expectStatus(agent, 201);
  const { id } = agent.body;
  const made = await by.post(`/api/v1/agents/${id}/keys`, { name: 'first' });
  expectStatus(made, 201);
  const { key, id: keyId } = made.body;
  return { id, key, keyId, ...(await startSession(rest, member, key)) };
}

/** Starts a session on behalf of a user, for the services that the agents here were granted. */
export async function startSession(
  rest: RestDriver,
  { tenantId: tenant, access }: Person,
  key: string,
) {
  const body = { services: [SERVICE_GRANT], subject_token: access };
  const session = await rest.post('/api/v1/agent/sessions', body, { bearer: key, tenant });
  expectStatus(session, 201);
  const { id: sessionId, agent_token: token, capability_token: capability } = session.body.data;
  return { sessionId, token, capability };
}
