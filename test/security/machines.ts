/** What is no person in a tenant: API keys by what they may do, and an agent with an open session. */
import type { ServiceRig } from '@cardea/testing';
import { expectStatus, type Person } from './people.ts';

export type Machines = {
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

export const scopesOf = (right: 'read' | 'write'): readonly string[] =>
  AREAS.map((area) => `${area}:${right}`);

/** Undefined where identity makes no keys and agents. */
export async function machinesOf(
  { rest, host }: ServiceRig,
  owner: Person,
): Promise<Machines | undefined> {
  const has = (path: string) => host.endpoints.some(({ contract }) => contract.path === path);
  if (!has('/api/v1/api-keys') || !has('/api/v1/agent/sessions')) return undefined;
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
      // A key has at least one scope; this one opens no door of the API.
      scopeless: await keyWith('scopeless', ['tokens:introspect']),
    },
    agent: await agentOf({ rest, host } as ServiceRig, owner),
  };
}

async function agentOf({ rest }: ServiceRig, owner: Person): Promise<Agent> {
  const by = rest.as({ bearer: owner.access, tenant: owner.tenantId });
  const agent = await by.post('/api/v1/agents', { name: 'porter', services: [SERVICE_GRANT] });
  expectStatus(agent, 201);
  const { id } = agent.body;
  const made = await by.post(`/api/v1/agents/${id}/keys`, { name: 'first' });
  expectStatus(made, 201);
  const { key, id: keyId } = made.body;
  const session = await rest
    .as({ bearer: key, tenant: owner.tenantId })
    .post('/api/v1/agent/sessions', {
      services: [SERVICE_GRANT],
      subject_token: owner.access,
    });
  expectStatus(session, 201);
  const { id: sessionId, agent_token: token, capability_token: capability } = session.body.data;
  return { id, key, keyId, sessionId, token, capability };
}
