/** Administrators create, list, rotate and revoke an agent's keys. A key is shown only once. */
import { NullableTime, named, Time } from '@cardea/contracts';
import { type Endpoint, endpoint } from '@cardea/http';
import { repeatAnswer, requestHash, type ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { isNetwork } from '../../../adapters/network.ts';
import { drawKey, drawSecret, environmentOf } from '../../../credentials/credentials.module.ts';
import { badField, closed } from '../../../http/answers.ts';
import { FILLED_NAME, networkField } from '../../../http/input-fields.ts';
import type { SnapshotCache } from '../../../streams/snapshot-cache.ts';
import type { Workspaces } from '../../../workspaces/workspaces.module.ts';
import { agents, isThere } from '../../agents/agent.ts';
import {
  AGENTS_READ,
  AGENTS_WRITE,
  AgentId,
  mayGrant,
  NO_GRANT,
} from '../../agents/agent-shape.ts';
import { agentKeys, issueAgentKey, revokeAgentKey, rotateAgentKey } from '../agent-key.ts';
import { listAgentKeys, prefixOfAgentKey } from './list-agent-keys.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'command' | 'database' | 'random' | 'sealer' | 'streams'
> & {
  readonly snapshots: Pick<SnapshotCache, 'load'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
};

const NAME_CHARACTERS_MAX = 64;
const PATH = '/api/v1/agents/{id}/keys';
const KeyId = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 128 }),
  key_id: Type.String({ minLength: 1, maxLength: 128 }),
});
const keyFields = {
  id: Type.String(),
  agent_id: Type.String(),
  name: Type.String(),
  prefix: Type.String(),
  created_at: Time,
  expires_at: Time,
};
const DAY_MS = 86_400_000;
const DAYS_MAX = 365;
const DAYS_DEFAULT = 90;
const OVERLAP_MAX_S = 86_400;
const CIDRS_MAX = 50;
const MS = 1_000;

export const createAgentKeyRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      tag: 'Agents',
      name: 'create_agent_key',
      machine: 'agents:write',
      access: { class: 'settings', stepUp: 'none' },
      summary: 'Give an agent a key',
      description:
        'Makes a key for an agent and shows it this once. It runs out after 90 days unless stated, and can be limited to networks.',
      method: 'post',
      path: PATH,
      who: AGENTS_WRITE,
      params: AgentId,
      body: closed({
        name: Type.String({ minLength: 1, maxLength: NAME_CHARACTERS_MAX, pattern: FILLED_NAME }),
        expires_in_days: Type.Optional(Type.Integer({ minimum: 1, maximum: DAYS_MAX })),
        allowed_cidrs: Type.Optional(
          Type.Array(networkField, { maxItems: CIDRS_MAX, uniqueItems: true }),
        ),
      }),
      ok: closed({ ...keyFields, key: Type.String() }),
      response: { status: 201, isSecret: true },
      refusals: {
        invalid_request: 400,
        insufficient_scope: 403,
        not_found: 404,
        already_created: 409,
        idempotency_key_reused: 422,
      },
      repeat: 'by_key',
      consistency: { waitsFor: ['agent_keys'] },
    },
    {
      readAhead: ({ params, tenantId }) =>
        Promise.all([
          needs.snapshots.load(agents, { tenantId, id: params.id }),
          environmentOf(needs, tenantId),
        ]),
      handle: async (request, [agent, environment]) => {
        const { body, params } = request;
        if (!mayGrant(request.principal)) return NO_GRANT;
        const agentId = params.id;
        const cidrs = body.allowed_cidrs ?? [];
        if (!cidrs.every(isNetwork)) return badField('allowed_cidrs', 'cidr');
        if (!isThere(agent)) return { refused: 'not_found' };

        const command = await needs.command(request);
        const issued = drawKey(needs, request, { kind: 'agk', environment });
        const ownHash = await requestHash(needs, request);
        const lifeMs = (body.expires_in_days ?? DAYS_DEFAULT) * DAY_MS;
        const data = {
          id: issued.id,
          agent_id: agentId,
          name: body.name,
          created_at: command.now.toISOString(),
          expires_at: new Date(command.now.getTime() + lifeMs).toISOString(),
        };
        const issue = {
          ...data,
          environment,
          allowed_cidrs: cidrs,
          hash: issued.secretHash,
          request_hash: ownHash,
        };
        const decided = await needs.streams.decideOn(agentKeys, issued.id, command, {
          isNew: true,
          decide: (key) => issueAgentKey(issue, key),
        });
        if (!decided.accepted || decided.repeated) {
          const { state } = decided;
          const isOwn = state.status !== 'none' && state.key.agent_id === agentId;
          const requestHash = isOwn ? state.requestHash : null;
          return repeatAnswer(ownHash, { id: issued.id, requestHash });
        }
        const prefix = prefixOfAgentKey({ environment, id: issued.id });
        return { ok: { ...data, prefix, key: issued.text }, wrote: decided.position };
      },
    },
  );

export const listAgentKeysRoute = ({
  snapshots,
  database,
}: Pick<Dependencies, 'database' | 'snapshots'>): Endpoint =>
  endpoint(
    {
      tag: 'Agents',
      name: 'list_agent_keys',
      machine: 'agents:read',
      access: { class: 'things', applicationScope: 'account' },
      summary: "List an agent's keys",
      description: 'Lists the keys of an agent, without the keys themselves.',
      method: 'get',
      path: PATH,
      who: AGENTS_READ,
      params: AgentId,
      ok: closed({
        keys: Type.Array(
          named(
            'AgentKey',
            closed({
              ...keyFields,
              allowed_cidrs: Type.Array(Type.String()),
              last_used_at: NullableTime,
            }),
          ),
        ),
      }),
      refusals: { not_found: 404 },
      consistency: { reads: ['agent_keys'] },
    },
    async ({ tenantId, params }) => {
      const agent = await snapshots.load(agents, { tenantId, id: params.id });
      if (!isThere(agent)) return { refused: 'not_found' };
      return { ok: { keys: await listAgentKeys(database, { tenantId, agentId: params.id }) } };
    },
  );

export const rotateAgentKeyRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      tag: 'Agents',
      name: 'rotate_agent_key',
      machine: 'agents:write',
      access: { class: 'settings', stepUp: 'none' },
      repeat: 'never',
      summary: "Give an agent's key a new secret",
      description:
        'Gives a key of an agent a new secret and shows it this once. The one of before is accepted for `overlap_seconds`, too.',
      method: 'post',
      path: `${PATH}/{key_id}/rotate`,
      who: AGENTS_WRITE,
      params: KeyId,
      body: closed({
        overlap_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: OVERLAP_MAX_S })),
      }),
      input: { isOptional: true },
      ok: closed({
        id: Type.String(),
        key: Type.String(),
        previous_valid_until: Time,
      }),
      response: { isSecret: true },
      refusals: { insufficient_scope: 403, not_found: 404 },
      consistency: { waitsFor: ['agent_keys'] },
    },
    async (request) => {
      const { params, body, tenantId } = request;
      if (!mayGrant(request.principal)) return NO_GRANT;
      const { id: agentId, key_id: id } = params;
      const before = await needs.snapshots.load(agentKeys, { tenantId, id });
      const agent = await needs.snapshots.load(agents, { tenantId, id: agentId });
      if (before.status === 'none' || !isThere(agent)) return { refused: 'not_found' };
      const { environment } = before.key;
      const { text, hash } = drawSecret(needs, { kind: 'agk', environment, id });
      const command = await needs.command(request);
      const graceSeconds = body.overlap_seconds ?? 0;
      const rotate = { agentId, hash, graceSeconds, now: command.now };
      const decided = await needs.streams.decideOn(agentKeys, id, command, (key) =>
        rotateAgentKey(rotate, key),
      );
      if (!decided.accepted || decided.state.status === 'none') return { refused: 'not_found' };
      const until = new Date(command.now.getTime() + graceSeconds * MS);
      const ok = { id, key: text, previous_valid_until: until.toISOString() };
      return { ok, wrote: decided.position };
    },
  );

export const revokeAgentKeyRoute = (needs: Pick<Dependencies, 'command' | 'streams'>): Endpoint =>
  endpoint(
    {
      tag: 'Agents',
      name: 'revoke_agent_key',
      machine: 'agents:write',
      access: { class: 'settings', stepUp: 'none' },
      repeat: 'safe',
      summary: "Revoke an agent's key",
      description: 'Revokes a key of an agent, and ends the sessions that last used it.',
      method: 'delete',
      path: `${PATH}/{key_id}`,
      who: AGENTS_WRITE,
      params: KeyId,
      ok: closed({ status: Type.Literal('agent key revoked') }),
      refusals: { not_found: 404 },
      consistency: { waitsFor: ['agent_keys', 'revocations'] },
    },
    async (request) => {
      const { id: agentId, key_id: id } = request.params;
      const command = await needs.command(request);
      const decided = await needs.streams.decideOn(agentKeys, id, command, (key) =>
        revokeAgentKey({ agentId, now: command.now }, key),
      );
      if (!decided.accepted) return { refused: decided.reason };
      return { ok: { status: 'agent key revoked' as const }, wrote: decided.position };
    },
  );
