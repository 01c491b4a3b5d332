import { readApproverSet } from '@cardea/contracts';
import { type Endpoint, endpoint } from '@cardea/http';
import { newId, requestHash, reusedKey, type ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { exists, type UserDirectory } from '../../../accounts/accounts.module.ts';
import { badField, closed } from '../../../http/answers.ts';
import type { SnapshotCache } from '../../../streams/snapshot-cache.ts';
import type { AgentNames } from '../../agent-names.ts';
import { type AgentFields, agents, type ExistingAgent, isThere } from '../agent.ts';
import {
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
import { shownAgent } from '../list-agents.ts';
import { areGiven, normalisedOfAgent } from '../service-grant.ts';
import { changeAgent, createAgent, deleteAgent } from './administer.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'command' | 'database' | 'ids' | 'sealer' | 'streams'
> & {
  readonly snapshots: Pick<SnapshotCache, 'load'>;
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
  readonly agentNames: Pick<AgentNames, 'hashOf' | 'hold' | 'release'>;
};

const PATH = '/api/v1/agents';

export const createAgentRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      tag: 'Agents',
      name: 'create_agent',
      machine: 'agents:write',
      access: { class: 'settings', stepUp: 'none' },
      summary: 'Make an agent',
      description:
        'Makes an agent with the services that it may reach at most. `approvers` are whom it may ask besides the user of its session and its owner: users, or sets of them as `POST /api/v1/ciba/requests` takes them. An API key or machine needs the scope `vault:grant`, too, for an agent that reaches anything or may ask somebody.',
      method: 'post',
      path: PATH,
      who: AGENTS_WRITE,
      body: closed({ name: agentName, ...agentFields }),
      ok: AgentShape,
      response: { status: 201 },
      refusals: {
        invalid_request: 400,
        insufficient_scope: 403,
        agent_exists: 409,
        idempotency_key_reused: 422,
      },
      repeat: 'by_key',
      consistency: { waitsFor: ['agents'] },
    },
    async (request) => {
      const { body, tenantId } = request;
      if (reaches(body) && !mayGrant(request.principal)) return NO_GRANT;
      const name = readName(body.name);
      if (name === undefined) return badField('name', 'format');
      const owner = body.owner_user_id ?? null;
      if (!(await isUser(needs, tenantId, owner))) return badField('owner_user_id', 'known');
      if (!(await areApprovers(needs, tenantId, body.approvers))) {
        return badField('approvers', 'known');
      }

      // A new agent can have no entries of approvals, because approvals only extend existing agents.
      if (!areGiven(body.services ?? [], [])) return badField('services', 'given');

      const command = await needs.command(request);
      const id = newId(needs, request, 'agent');
      const ownHash = await requestHash(needs, request);
      const before = await needs.snapshots.load(agents, { tenantId, id });
      // This is checked before the name is reserved, since the name may belong to another request.
      const reused = isThere(before) ? reusedKey(ownHash, before.requestHash) : undefined;
      if (reused !== undefined) return reused;
      const nameHash = await needs.agentNames.hashOf(tenantId, name);
      if (!(await needs.agentNames.hold(nameHash, id, command))) {
        return { refused: 'agent_exists' };
      }
      const create = {
        id,
        name,
        description: body.description ?? null,
        owner_user_id: owner,
        app_id: body.app_id ?? null,
        services: normalisedOfAgent(body.services ?? []),
        approvers: body.approvers ?? [],
        created_at: command.now.toISOString(),
        name_hash: nameHash,
        request_hash: ownHash,
      };
      const decided = await needs.streams.decideOn(agents, id, command, (agent) =>
        createAgent(create, agent),
      );
      const { state } = decided;
      if (!isThere(state)) return { refused: 'agent_exists' };
      return (
        reusedKey(ownHash, state.requestHash) ?? {
          ok: shownAgent(state.agent, of(tenantId, state, command.now)),
          wrote: decided.position,
        }
      );
    },
  );

export const changeAgentRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      tag: 'Agents',
      name: 'update_agent',
      machine: 'agents:write',
      access: { class: 'settings', stepUp: 'none' },
      repeat: 'safe',
      summary: 'Change, suspend or resume an agent',
      description:
        'Changes an agent, suspends it or resumes it. Suspending revokes its keys and tokens before the answer; resuming takes that back. `services` replaces all entries: what an approval gave (with `until` and `approval_id`) stays where it is sent as it is shown, and nobody makes such an entry. An API key or machine needs the scope `vault:grant`, too, to change what the agent may reach or whom it may ask.',
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
      consistency: { waitsFor: ['agents', 'revocations'] },
    },
    async (request) => {
      const { body, params, tenantId } = request;
      const { id } = params;
      if (setsReach(body) && !mayGrant(request.principal)) return NO_GRANT;
      const name = body.name === undefined ? undefined : readName(body.name);
      if (name === undefined && body.name !== undefined) return badField('name', 'format');
      if (!(await isUser(needs, tenantId, body.owner_user_id ?? null))) {
        return badField('owner_user_id', 'known');
      }
      if (!(await areApprovers(needs, tenantId, body.approvers))) {
        return badField('approvers', 'known');
      }
      const before = await needs.snapshots.load(agents, { tenantId, id });
      if (!isThere(before)) return { refused: 'not_found' };

      const command = await needs.command(request);
      const nameHash =
        name === undefined ? before.nameHash : await needs.agentNames.hashOf(tenantId, name);
      const isRenamed = nameHash !== before.nameHash;
      if (isRenamed && !(await needs.agentNames.hold(nameHash, id, command))) {
        return { refused: 'agent_exists' };
      }
      const change = {
        fields: fieldsOf(body, name),
        now: command.now,
        ...(name === undefined ? {} : { nameHash }),
        ...(body.status === undefined ? {} : { status: body.status }),
      };
      const decided = await needs.streams.decideOn(agents, id, command, (agent) =>
        changeAgent(change, agent),
      );
      if (!decided.accepted && decided.reason === 'services_not_given') {
        return badField('services', 'given');
      }
      if (!decided.accepted || !isThere(decided.state)) return { refused: 'not_found' };
      if (isRenamed) await needs.agentNames.release(before.nameHash, id, command);
      const { state, position } = decided;
      return { ok: shownAgent(state.agent, of(tenantId, state, command.now)), wrote: position };
    },
  );

export const deleteAgentRoute = (
  needs: Pick<Dependencies, 'agentNames' | 'command' | 'streams'>,
): Endpoint =>
  endpoint(
    {
      tag: 'Agents',
      name: 'delete_agent',
      machine: 'agents:write',
      access: { class: 'settings', stepUp: 'none' },
      repeat: 'safe',
      summary: 'Delete an agent',
      description: 'Deletes an agent. Its keys, sessions and tokens end before the answer.',
      method: 'delete',
      path: `${PATH}/{id}`,
      who: AGENTS_WRITE,
      params: AgentId,
      ok: closed({ status: Type.Literal('agent deleted') }),
      refusals: { not_found: 404 },
      consistency: { waitsFor: ['agents', 'agent_keys', 'revocations'] },
    },
    async (request) => {
      const { id } = request.params;
      const command = await needs.command(request);
      const decided = await needs.streams.decideOn(agents, id, command, (agent) =>
        deleteAgent(command.now, agent),
      );
      if (!decided.accepted) return { refused: decided.reason };
      if (decided.state.status === 'deleted') {
        await needs.agentNames.release(decided.state.nameHash, id, command);
      }
      return { ok: { status: 'agent deleted' as const }, wrote: decided.position };
    },
  );

const of = (tenant_id: string, { status }: ExistingAgent, now: Date) => ({
  tenant_id,
  status,
  now,
});

async function isUser(
  { userDirectory }: Pick<Dependencies, 'userDirectory'>,
  tenantId: string,
  id: string | null,
) {
  return id === null || exists(await userDirectory.byId(tenantId, id));
}

/** Whether each entry is a user of the tenant or the text of a set. A set may have no members. */
async function areApprovers(
  needs: Pick<Dependencies, 'userDirectory'>,
  tenantId: string,
  approvers: readonly string[] = [],
): Promise<boolean> {
  const persons = approvers.filter((text) => readApproverSet(text) === undefined);
  const known = await Promise.all(persons.map((id) => isUser(needs, tenantId, id)));
  return known.every(Boolean);
}

type Body = Partial<AgentFields> & { readonly status?: string };

/** Returns only the fields that the request names. */
function fieldsOf(body: Body, name: string | undefined): Partial<AgentFields> {
  const { status: _status, name: _name, services, ...plain } = body;
  return {
    ...plain,
    ...(name === undefined ? {} : { name }),
    ...(services === undefined ? {} : { services: normalisedOfAgent(services) }),
  };
}
