/** A user lets an agent act on their behalf, lists delegations, and withdraws them. */
import {
  NullableTime,
  named,
  PAGE_SIZE_DEFAULT,
  pageAnswer,
  pageQuery,
  Time,
} from '@cardea/contracts';
import { type Endpoint, endpoint } from '@cardea/http';
import { type Database, pageOfTenant } from '@cardea/read-models';
import { requestHash, reusedKey, type ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { users } from '../../../accounts/accounts.module.ts';
import { futureMoment } from '../../../credentials/credentials.module.ts';
import { badField, closed } from '../../../http/answers.ts';
import type { SnapshotCache } from '../../../streams/snapshot-cache.ts';
import { agents, isThere } from '../../agents/agent.ts';
import { copied, normalised, ServiceGrants } from '../../agents/service-grant.ts';
import { type DelegationData, delegationId, delegations } from '../delegation.ts';
import { delegationRows } from '../delegations.projection.ts';
import { grantDelegation, withdrawDelegation } from './delegate.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'clock' | 'command' | 'database' | 'sealer' | 'streams'
> & {
  readonly snapshots: Pick<SnapshotCache, 'load'>;
};

export const DELEGATIONS_PATH = '/api/v1/me/delegations';
export const DelegationShape = named(
  'Delegation',
  closed({
    id: Type.String(),
    user_id: Type.String(),
    agent_id: Type.String(),
    services: ServiceGrants,
    created_at: Time,
    expires_at: NullableTime,
  }),
);

export const grantDelegationRoute = (
  needs: Pick<Dependencies, 'command' | 'sealer' | 'snapshots' | 'streams'>,
): Endpoint =>
  endpoint(
    {
      tag: 'Self-service',
      who: ['user'],
      tenant: 'optional',
      name: 'grant_delegation',
      access: { class: 'settings', stepUp: 'none' },
      summary: 'Let an agent act for me',
      description:
        'Lets an agent act for the caller, for the named services and fields, until an end if one is given. Granting again replaces what was granted before.',
      method: 'post',
      path: DELEGATIONS_PATH,
      body: closed({
        agent_id: Type.String({ minLength: 1, maxLength: 128 }),
        services: ServiceGrants,
        expires_at: Type.Optional(NullableTime),
      }),
      ok: DelegationShape,
      response: { status: 201 },
      refusals: {
        invalid_request: 400,
        forbidden: 403,
        not_found: 404,
        idempotency_key_reused: 422,
      },
      repeat: 'by_key',
      consistency: { waitsFor: ['delegations'] },
    },
    async (request) => {
      const { id: userId, tenantId, clientId, issuedAt } = request.principal;
      // An application of the user may not let agents act for the user.
      if (clientId !== null) return { refused: 'forbidden' };
      const { body } = request;
      const command = await needs.command(request);
      const expiresAt = body.expires_at == null ? null : futureMoment(body.expires_at, command.now);
      if (expiresAt === undefined) return badField('expires_at', 'future date-time');
      const agent = await needs.snapshots.load(agents, { tenantId, id: body.agent_id });
      if (!isThere(agent)) return { refused: 'not_found' };

      const id = delegationId(userId, body.agent_id);
      const request_hash = await requestHash(needs, request);
      const grant = {
        id,
        user_id: userId,
        agent_id: body.agent_id,
        services: normalised(body.services),
        expires_at: expiresAt,
        created_at: command.now.toISOString(),
        request_hash,
      };
      const decided = await needs.streams.decideOnBasis(delegations, id, command, {
        restsOn: { user: { stream: users, id: userId } },
        decide: (_before, { user }) => grantDelegation(grant, { user, issuedAt }),
      });
      if (!decided.accepted) return { refused: decided.reason };
      const [granted] = decided.events;
      if (granted?.type !== 'DelegationGranted') throw new Error('a delegation was not granted');
      const { request_hash: firstHash, ...data } = granted.data;
      return reusedKey(request_hash, firstHash) ?? { ok: shown(data), wrote: decided.position };
    },
  );

export const listDelegationsRoute = ({
  database,
  clock,
}: Pick<Dependencies, 'clock' | 'database'>) =>
  endpoint(
    {
      tag: 'Self-service',
      who: ['user'],
      tenant: 'optional',
      name: 'list_delegations',
      access: { class: 'things', applicationScope: 'account' },
      summary: 'Agents that may act for me',
      description: 'Lists what the caller has delegated to agents.',
      method: 'get',
      path: DELEGATIONS_PATH,
      query: Type.Object(pageQuery),
      ok: closed({ delegations: Type.Array(DelegationShape), ...pageAnswer }),
      refusals: {},
      consistency: { reads: ['delegations'] },
    },
    async ({ principal, query }) => {
      const { id: userId, tenantId } = principal;
      const { offset = 0, limit = PAGE_SIZE_DEFAULT } = query;
      const of = { tenantId, userId, now: clock.now(), offset, limit };
      const { rows, total } = await listDelegations(database, of);
      return { ok: { delegations: rows, total, offset, limit } };
    },
  );

export const withdrawDelegationRoute = (needs: Dependencies) =>
  endpoint(
    {
      tag: 'Self-service',
      who: ['user'],
      tenant: 'optional',
      name: 'withdraw_delegation',
      access: { class: 'settings', stepUp: 'none' },
      repeat: 'safe',
      summary: 'Take a delegation back',
      description:
        "Takes a delegation back. The agent's sessions for the caller end before the answer.",
      method: 'delete',
      path: `${DELEGATIONS_PATH}/{id}`,
      params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 128 }) }),
      ok: closed({ status: Type.Literal('delegation withdrawn') }),
      refusals: { not_found: 404 },
      consistency: { waitsFor: ['delegations'] },
    },
    async (request) => {
      const { id: userId } = request.principal;
      const { id } = request.params;
      const command = await needs.command(request);
      const decided = await needs.streams.decideOn(delegations, id, command, (delegation) =>
        withdrawDelegation({ userId, now: command.now }, delegation),
      );
      if (!decided.accepted) return { refused: decided.reason };
      // A policy ends the sessions. Their tokens were revoked with the decision.
      return { ok: { status: 'delegation withdrawn' as const }, wrote: decided.position };
    },
  );

const LISTED = delegationRows.select(
  'id',
  'user_id',
  'agent_id',
  'services',
  'created_at',
  'expires_at',
);

export async function listDelegations(
  database: Database,
  of: {
    readonly tenantId: string;
    readonly userId: string;
    readonly now: Date;
    readonly offset: number;
    readonly limit: number;
  },
) {
  const { rows, total } = await pageOfTenant(database, of.tenantId, {
    select: LISTED,
    from: 'identity.delegations',
    where: `tenant_id = $1 AND user_id = $2 AND withdrawn_at IS NULL
      AND (expires_at IS NULL OR expires_at > $3)`,
    values: [of.tenantId, of.userId, of.now],
    order: 'created_at DESC, id',
    offset: of.offset,
    limit: of.limit,
  });
  const delegations = rows.map(({ created_at, expires_at, ...row }) =>
    shown({
      ...row,
      created_at: created_at.toISOString(),
      expires_at: expires_at?.toISOString() ?? null,
    }),
  );
  return { rows: delegations, total };
}

const shown = ({ services, ...delegation }: DelegationData) => ({
  ...delegation,
  services: copied(services),
});
