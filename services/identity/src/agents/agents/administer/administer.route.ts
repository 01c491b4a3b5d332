/** Administrators make agents, look at them, change, suspend and delete them. */
import { PAGE_SIZE_DEFAULT, pageAnswer, pageQuery } from '@cardea/contracts';
import { asUser, type Endpoint, endpoint } from '@cardea/http';
import Type from 'typebox';
import { exists } from '../../../accounts/users/user.ts';
import { hashOfRequest } from '../../../credentials/key-issuing.ts';
import { badField, closed, USERS_ONLY } from '../../../http/answers.ts';
import { newId } from '../../../identity.ts';
import type { Machines } from '../../machines.ts';
import {
  type AgentEvent,
  type AgentFields,
  agents,
  type ExistingAgent,
  isThere,
} from '../agent.ts';
import {
  AGENTS,
  AGENTS_READ,
  AGENTS_WRITE,
  AgentId,
  AgentShape,
  AgentStatus,
  agentFields,
  agentName,
  mayGrant,
  NO_GRANT,
  reaches,
  readName,
  setsReach,
} from '../agent-shape.ts';
import { listAgents, shownAgent } from '../list-agents.ts';
import { normalised } from '../service-grant.ts';
import { changeAgent, createAgent, deleteAgent } from './administer.ts';

const PATH = '/api/v1/agents';
const AgentList = closed({ agents: Type.Array(AgentShape), ...pageAnswer });

export const createAgentRoute = (machines: Machines): Endpoint =>
  endpoint(
    {
      ...AGENTS,
      name: 'create_agent',
      summary: 'Make an agent',
      method: 'post',
      path: PATH,
      who: AGENTS_WRITE,
      body: closed({ name: agentName, ...agentFields }),
      ok: AgentShape,
      status: 201,
      refusals: {
        invalid_request: 400,
        insufficient_scope: 403,
        agent_exists: 409,
        idempotency_key_reused: 422,
      },
      idempotent: true,
      waitsFor: ['agents'],
    },
    async (request) => {
      const { body, tenantId } = request;
      if (reaches(body) && !mayGrant(request.principal)) return NO_GRANT;
      const name = readName(body.name);
      if (name === undefined) return badField('name', 'format');
      const owner = body.owner_user_id ?? null;
      if (!(await isUser(machines, tenantId, owner))) return badField('owner_user_id', 'known');

      const command = await machines.command(request);
      const id = newId(machines, request, 'agent');
      const ownHash = await hashOfRequest(machines, request);
      const before = await machines.folded.load(agents, { tenantId, id });
      // Before a name is held that belongs to another request.
      if (isThere(before) && before.requestHash !== ownHash) {
        return { refused: 'idempotency_key_reused' };
      }
      const nameHash = await machines.agentNames.hashOf(tenantId, name);
      if (!(await machines.agentNames.hold(nameHash, id, command))) {
        return { refused: 'agent_exists' };
      }
      const create = {
        id,
        name,
        description: body.description ?? null,
        owner_user_id: owner,
        app_id: body.app_id ?? null,
        services: normalised(body.services ?? []),
        created_at: command.now.toISOString(),
        name_hash: nameHash,
        request_hash: ownHash,
      };
      const decided = await machines.streams.decideOn(agents, id, command, (agent) =>
        createAgent(create, agent),
      );
      const { state } = decided;
      if (!isThere(state)) return { refused: 'agent_exists' };
      if (state.requestHash !== ownHash) return { refused: 'idempotency_key_reused' };
      return { ok: shownAgent(state.agent, of(tenantId, state)), wrote: decided.position };
    },
  );

export const listAgentsRoute = ({ database }: Machines): Endpoint =>
  endpoint(
    {
      ...AGENTS,
      name: 'list_agents',
      summary: 'List agents',
      method: 'get',
      path: PATH,
      who: AGENTS_READ,
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

export const myAgentsRoute = ({ database }: Machines): Endpoint =>
  endpoint(
    {
      name: 'list_my_agents',
      summary: 'Agents that are mine or act for me',
      tag: 'Self-service',
      method: 'get',
      path: '/api/v1/me/agents',
      who: ['user'],
      tenant: 'optional',
      area: 'user',
      notTaken: USERS_ONLY,
      query: Type.Object(pageQuery),
      ok: AgentList,
      refusals: {},
      reads: ['agents', 'delegations', 'agent_sessions'],
    },
    async ({ principal, query }) => {
      const { id: ofUser, tenantId } = asUser(principal);
      const { offset = 0, limit = PAGE_SIZE_DEFAULT } = query;
      const { rows, total } = await listAgents(database, { tenantId, offset, limit, ofUser });
      return { ok: { agents: rows, total, offset, limit } };
    },
  );

export const getAgentRoute = ({ folded }: Machines): Endpoint =>
  endpoint(
    {
      ...AGENTS,
      name: 'get_agent',
      summary: 'One agent',
      method: 'get',
      path: `${PATH}/{id}`,
      who: AGENTS_READ,
      params: AgentId,
      ok: AgentShape,
      refusals: { not_found: 404 },
    },
    async ({ tenantId, params }) => {
      const agent = await folded.load(agents, { tenantId, id: params.id });
      if (!isThere(agent)) return { refused: 'not_found' };
      return { ok: shownAgent(agent.agent, of(tenantId, agent)) };
    },
  );

export const changeAgentRoute = (machines: Machines): Endpoint =>
  endpoint(
    {
      ...AGENTS,
      name: 'update_agent',
      summary: 'Change, suspend or resume an agent',
      method: 'patch',
      path: `${PATH}/{id}`,
      who: AGENTS_WRITE,
      params: AgentId,
      body: Type.Object(
        {
          name: Type.Optional(agentName),
          status: Type.Optional(AgentStatus),
          ...agentFields,
        },
        { additionalProperties: false, minProperties: 1 },
      ),
      ok: AgentShape,
      refusals: {
        invalid_request: 400,
        insufficient_scope: 403,
        not_found: 404,
        agent_exists: 409,
      },
      waitsFor: ['agents', 'revocations'],
    },
    async (request) => {
      const { body, params, tenantId } = request;
      const { id } = params;
      if (setsReach(body) && !mayGrant(request.principal)) return NO_GRANT;
      const name = body.name === undefined ? undefined : readName(body.name);
      if (name === undefined && body.name !== undefined) return badField('name', 'format');
      if (!(await isUser(machines, tenantId, body.owner_user_id ?? null))) {
        return badField('owner_user_id', 'known');
      }
      const before = await machines.folded.load(agents, { tenantId, id });
      if (!isThere(before)) return { refused: 'not_found' };

      const command = await machines.command(request);
      const nameHash =
        name === undefined ? before.nameHash : await machines.agentNames.hashOf(tenantId, name);
      const isRenamed = nameHash !== before.nameHash;
      if (isRenamed && !(await machines.agentNames.hold(nameHash, id, command))) {
        return { refused: 'agent_exists' };
      }
      const change = {
        fields: fieldsOf(body, name),
        now: command.now,
        ...(name === undefined ? {} : { nameHash }),
        ...(body.status === undefined ? {} : { status: body.status }),
      };
      const decided = await machines.streams.decideOn(agents, id, command, (agent) =>
        changeAgent(change, agent),
      );
      if (!decided.accepted || !isThere(decided.state)) return { refused: 'not_found' };
      if (isRenamed) await machines.agentNames.release(before.nameHash, id, command);
      const { state, position } = decided;
      if (position !== undefined && decided.events.some(changesReach)) {
        await machines.revocations.changed({
          tenantId,
          kind: 'agent',
          id,
          position,
          narrows: true,
        });
      }
      if (state.status === 'suspended') await machines.revocations.mark('agent', [id]);
      else if (body.status === 'active') await machines.revocations.unmark('agent', [id]);
      return { ok: shownAgent(state.agent, of(tenantId, state)), wrote: position };
    },
  );

export const deleteAgentRoute = (machines: Machines): Endpoint =>
  endpoint(
    {
      ...AGENTS,
      name: 'delete_agent',
      summary: 'Delete an agent',
      method: 'delete',
      path: `${PATH}/{id}`,
      who: AGENTS_WRITE,
      params: AgentId,
      ok: closed({ status: Type.Literal('agent deleted') }),
      refusals: { not_found: 404 },
      waitsFor: ['agents', 'agent_keys', 'revocations'],
    },
    async (request) => {
      const { id } = request.params;
      const command = await machines.command(request);
      const decided = await machines.streams.decideOn(agents, id, command, (agent) =>
        deleteAgent(command.now, agent),
      );
      if (!decided.accepted) return { refused: decided.reason };
      await machines.revocations.mark('agent', [id]);
      if (decided.state.status === 'deleted') {
        await machines.agentNames.release(decided.state.nameHash, id, command);
      }
      return { ok: { status: 'agent deleted' as const }, wrote: decided.position };
    },
  );

/** Who answers for an agent decides what it may have, so a new owner counts as less allowed. */
const changesReach = ({ type, data }: AgentEvent): boolean =>
  type === 'AgentChanged' && (data.services !== undefined || data.owner_user_id !== undefined);

const of = (tenant_id: string, { status }: ExistingAgent) => ({ tenant_id, status });

async function isUser({ people }: Machines, tenantId: string, id: string | null) {
  return id === null || exists(await people.byId(tenantId, id));
}

type Body = Partial<AgentFields> & { readonly status?: string };

/** What the request names, and nothing else. */
function fieldsOf(body: Body, name: string | undefined): Partial<AgentFields> {
  const { status: _status, name: _name, services, ...plain } = body;
  return {
    ...plain,
    ...(name === undefined ? {} : { name }),
    ...(services === undefined ? {} : { services: normalised(services) }),
  };
}
