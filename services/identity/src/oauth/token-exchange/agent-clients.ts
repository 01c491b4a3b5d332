/** Maps agents to clients of the authorization server's library. An agent key is the client secret. */
import type { AgentPrincipal, Authenticator } from '@cardea/auth';
import { parseKey } from '@cardea/crypto';
import type { Message, Ports } from '../../adapters/authorization-ports.ts';
import { TOKEN_EXCHANGE_GRANT } from '../../adapters/token-exchange.ts';
import { agents } from '../../agents/agents.module.ts';
import type { SnapshotCache } from '../../streams/snapshot-cache.ts';
import type { Workspaces } from '../../workspaces/workspaces.module.ts';
import { requestOf } from '../server/requests.ts';

export type AgentClientDependencies = {
  readonly authenticator: Pick<Authenticator, 'authenticate'>;
  readonly snapshots: Pick<SnapshotCache, 'find'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
};

type AgentClients = Pick<Ports, 'agentClient' | 'provesAgent'> & {
  /** The agent that authenticated with this message. */
  readonly provenAgent: (message: Message) => AgentPrincipal | undefined;
};

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function agentClients(deps: AgentClientDependencies): AgentClients {
  const proven = new WeakMap<Message, AgentPrincipal>();
  return {
    provenAgent: (message) => proven.get(message),
    agentClient: async (id) => {
      if (!ID.test(id)) return undefined;
      const found = await deps.snapshots.find(agents, id);
      if (found?.state.status !== 'active') return undefined;
      const { tenantId } = found;
      if ((await deps.workspaces.tenant(tenantId)) === undefined) return undefined;
      return metadataOf(id, tenantId);
    },
    // The rules for agent keys apply here as at every other endpoint: their networks, and the limit on wrong keys.
    provesAgent: async (message, id, shown) => {
      if (parseKey(shown)?.kind !== 'agk') return false;
      const caller = await deps.authenticator.authenticate(shown, requestOf(message).ip);
      if (caller?.kind === 'too_many_misses') return 'too_many';
      if (caller?.kind !== 'agent' || caller.via !== 'key' || caller.id !== id) return false;
      proven.set(message, caller);
      return true;
    },
  };
}

const metadataOf = (id: string, tenantId: string) => ({
  client_id: id,
  agent: true,
  tenant_id: tenantId,
  redirect_uris: [],
  response_types: [],
  grant_types: [TOKEN_EXCHANGE_GRANT],
  token_endpoint_auth_method: 'client_secret_basic',
  // The library never compares this value. The agent key is verified by the same code as elsewhere.
  client_secret: 'in the stream',
});
