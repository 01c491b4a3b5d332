/** The agents of a tenant, as lists and one by one. */
import { PAGE_SIZE_DEFAULT, pageAnswer, pageQuery } from '@cardea/contracts';
import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { closed, USERS_ONLY } from '../../../http/answers.ts';
import type { SnapshotCache } from '../../../streams/snapshot-cache.ts';
import { agents, type ExistingAgent, isThere } from '../agent.ts';
import { AGENTS, AGENTS_READ, AgentId, AgentShape } from '../agent-shape.ts';
import { listAgents, shownAgent } from '../list-agents.ts';

type Dependencies = Pick<ServiceDependencies, 'database'> & {
  readonly snapshots: Pick<SnapshotCache, 'load'>;
};

const PATH = '/api/v1/agents';
const AgentList = closed({ agents: Type.Array(AgentShape), ...pageAnswer });

export const listAgentsRoute = ({ database }: Pick<Dependencies, 'database'>): Endpoint =>
  endpoint(
    {
      ...AGENTS,
      name: 'list_agents',
      summary: 'List agents',
      method: 'get',
      path: PATH,
      who: AGENTS_READ,
      applicationScope: 'roles',
      query: Type.Object(pageQuery),
      ok: AgentList,
      refusals: {},
      reads: ['agents'],
    },
    async ({ tenantId, query }) => {
      const { offset = 0, limit = PAGE_SIZE_DEFAULT } = query;
      const { rows, total } = await listAgents(database, { tenantId, offset, limit });
      return { ok: { agents: rows, total, offset, limit } };
    },
  );

export const myAgentsRoute = ({ database }: Pick<Dependencies, 'database'>): Endpoint =>
  endpoint(
    {
      name: 'list_my_agents',
      summary: 'Agents that are mine or act for me',
      tag: 'Self-service',
      method: 'get',
      path: '/api/v1/me/agents',
      who: ['user'],
      applicationScope: 'account',
      tenant: 'optional',
      area: 'user',
      notTaken: USERS_ONLY,
      query: Type.Object(pageQuery),
      ok: AgentList,
      refusals: {},
      reads: ['agents', 'delegations', 'agent_sessions'],
    },
    async ({ principal, query }) => {
      const { id: ofUser, tenantId } = principal;
      const { offset = 0, limit = PAGE_SIZE_DEFAULT } = query;
      const { rows, total } = await listAgents(database, { tenantId, offset, limit, ofUser });
      return { ok: { agents: rows, total, offset, limit } };
    },
  );

export const getAgentRoute = ({ snapshots }: Pick<Dependencies, 'snapshots'>): Endpoint =>
  endpoint(
    {
      ...AGENTS,
      name: 'get_agent',
      summary: 'One agent',
      method: 'get',
      path: `${PATH}/{id}`,
      who: AGENTS_READ,
      applicationScope: 'roles',
      params: AgentId,
      ok: AgentShape,
      refusals: { not_found: 404 },
    },
    async ({ tenantId, params }) => {
      const agent = await snapshots.load(agents, { tenantId, id: params.id });
      if (!isThere(agent)) return { refused: 'not_found' };
      return { ok: shownAgent(agent.agent, of(tenantId, agent)) };
    },
  );

const of = (tenant_id: string, { status }: ExistingAgent) => ({ tenant_id, status });
