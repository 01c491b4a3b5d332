/** Lists the agents of a tenant, and returns one by id. */
import { PAGE_SIZE_DEFAULT, pageAnswer, pageQuery } from '@cardea/contracts';
import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { closed } from '../../../http/answers.ts';
import type { SnapshotCache } from '../../../streams/snapshot-cache.ts';
import { agents, type ExistingAgent, isThere } from '../agent.ts';
import { AGENTS_READ, AgentId, AgentShape } from '../agent-shape.ts';
import { listAgents, shownAgent } from '../list-agents.ts';

type Dependencies = Pick<ServiceDependencies, 'clock' | 'database'> & {
  readonly snapshots: Pick<SnapshotCache, 'load'>;
};

const PATH = '/api/v1/agents';
const AgentList = closed({ agents: Type.Array(AgentShape), ...pageAnswer });

export const listAgentsRoute = ({
  clock,
  database,
}: Pick<Dependencies, 'clock' | 'database'>): Endpoint =>
  endpoint(
    {
      tag: 'Agents',
      name: 'list_agents',
      machine: 'agents:read',
      access: { class: 'things', applicationScope: 'roles' },
      summary: 'List agents',
      description: 'Lists the agents of the tenant.',
      method: 'get',
      path: PATH,
      who: AGENTS_READ,
      query: Type.Object(pageQuery),
      ok: AgentList,
      refusals: {},
      consistency: { reads: ['agents'] },
    },
    async ({ tenantId, query }) => {
      const { offset = 0, limit = PAGE_SIZE_DEFAULT } = query;
      const list = { tenantId, offset, limit, now: clock.now() };
      const { rows, total } = await listAgents(database, list);
      return { ok: { agents: rows, total, offset, limit } };
    },
  );

export const myAgentsRoute = ({ clock, database }: Pick<Dependencies, 'clock' | 'database'>) =>
  endpoint(
    {
      name: 'list_my_agents',
      access: { class: 'things', applicationScope: 'account' },
      summary: 'Agents that are mine or act for me',
      description: 'Lists agents that the caller owns or has delegated to.',
      tag: 'Self-service',
      method: 'get',
      path: '/api/v1/me/agents',
      who: ['user'],
      tenant: 'optional',
      query: Type.Object(pageQuery),
      ok: AgentList,
      refusals: {},
      consistency: { reads: ['agents', 'delegations', 'agent_sessions'] },
    },
    async ({ principal, query }) => {
      const { id: ofUser, tenantId } = principal;
      const { offset = 0, limit = PAGE_SIZE_DEFAULT } = query;
      const list = { tenantId, offset, limit, ofUser, now: clock.now() };
      const { rows, total } = await listAgents(database, list);
      return { ok: { agents: rows, total, offset, limit } };
    },
  );

export const getAgentRoute = ({
  clock,
  snapshots,
}: Pick<Dependencies, 'clock' | 'snapshots'>): Endpoint =>
  endpoint(
    {
      tag: 'Agents',
      name: 'get_agent',
      machine: 'agents:read',
      access: { class: 'things', applicationScope: 'roles' },
      summary: 'One agent',
      description: 'Shows one agent, with the services that it may reach.',
      method: 'get',
      path: `${PATH}/{id}`,
      who: AGENTS_READ,
      params: AgentId,
      ok: AgentShape,
      refusals: { not_found: 404 },
    },
    async ({ tenantId, params }) => {
      const agent = await snapshots.load(agents, { tenantId, id: params.id });
      if (!isThere(agent)) return { refused: 'not_found' };
      return { ok: shownAgent(agent.agent, of(tenantId, agent, clock.now())) };
    },
  );

const of = (tenant_id: string, { status }: ExistingAgent, now: Date) => ({
  tenant_id,
  status,
  now,
});
