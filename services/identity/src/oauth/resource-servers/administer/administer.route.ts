/** Administrators register and delete the resource servers of their tenant. */
import {
  DEPLOYMENT_TENANT,
  documented,
  named,
  PAGE_SIZE_DEFAULT,
  pageAnswer,
  pageQuery,
  Time,
} from '@cardea/contracts';
import { type Command, release, reserve } from '@cardea/event-store';
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import { pageOfTenant } from '@cardea/read-models';
import { newId, requestHash, reusedKey, type ServiceDependencies } from '@cardea/service';
import Type, { type Static } from 'typebox';
import { badField, closed } from '../../../http/answers.ts';
import { filledNameField } from '../../../http/input-fields.ts';
import { printOwner, readOwner, resourceReservations } from '../../../streams/reservation.ts';
import type { SnapshotCache } from '../../../streams/snapshot-cache.ts';
import { identifierHash, isBuiltInScope } from '../known-resources.ts';
import {
  createResourceServer,
  deleteResourceServer,
  type ExistingResourceServer,
  isIdentifier,
  resourceServers,
} from '../resource-server.ts';
import { resourceServerRows } from '../resource-servers.projection.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'command' | 'database' | 'ids' | 'sealer' | 'settings' | 'streams'
> & {
  readonly snapshots: Pick<SnapshotCache, 'load'>;
};

const PATH = '/api/v1/admin/resource-servers';
const SCOPES_MAX = 100;
const DESCRIPTION_CHARACTERS_MAX = 256;
const TTL_MIN_S = 60;
const TTL_MAX_S = 3_600;
const TTL_DEFAULT_S = 900;

const Scope = named(
  'ResourceScope',
  closed({
    name: Type.String({
      pattern: '^[A-Za-z][A-Za-z0-9:._/-]{0,63}$',
      examples: ['orders:read'],
    }),
    description: Type.String({ maxLength: DESCRIPTION_CHARACTERS_MAX }),
  }),
);
const ttlField = Type.Integer({ minimum: TTL_MIN_S, maximum: TTL_MAX_S });
const Body = closed({
  /** An invalid identifier is refused with 400 `invalid_request`. */
  identifier: documented(Type.String({ maxLength: 512 }), {
    format: 'uri',
    pattern: '^https://',
    examples: ['https://api.example.com'],
  }),
  name: filledNameField,
  scopes: Type.Optional(Type.Array(Scope, { maxItems: SCOPES_MAX })),
  token_ttl_seconds: Type.Optional(ttlField),
});
const ResourceServerShape = named(
  'ResourceServer',
  closed({
    id: Type.String(),
    tenant_id: Type.String(),
    identifier: Type.String(),
    name: Type.String(),
    scopes: Type.Array(Scope),
    token_ttl_seconds: Type.Integer(),
    created_at: Time,
  }),
);
const LISTED = resourceServerRows.select(
  'id',
  'tenant_id',
  'identifier',
  'name',
  'scopes',
  'token_ttl_seconds',
  'created_at',
);

export const createResourceServerRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      tag: 'Applications',
      who: ['admin'],
      name: 'create_resource_server',
      machine: 'applications:write',
      access: { class: 'settings', stepUp: 'users' },
      summary: 'Register a resource server',
      description:
        'Registers an API of yours as the audience of tokens, with the scopes that applications may ask for.',
      method: 'post',
      path: PATH,
      body: Body,
      ok: ResourceServerShape,
      response: { status: 201 },
      refusals: {
        invalid_request: 400,
        invalid_scope: 400,
        identifier_taken: 409,
        idempotency_key_reused: 422,
      },
      repeat: 'by_key',
      consistency: { waitsFor: ['resource_servers'] },
    },
    async (request) => {
      const { body, tenantId } = request;
      const { identifier, scopes = [] } = body;
      const isDevelopment = needs.settings.ENV === 'development';
      if (!isIdentifier(identifier, { issuer: needs.settings.ISSUER, isDevelopment })) {
        return badField('identifier');
      }
      const names = scopes.map(({ name }) => name);
      const builtIn = names.flatMap((name, index) =>
        isBuiltInScope(name) ? [{ field: `scopes.${index}.name`, rule: 'built-in' }] : [],
      );
      if (builtIn.length > 0) return { refused: 'invalid_scope', details: builtIn };
      if (new Set(names).size < names.length) return badField('scopes', 'unique');
      const id = newId(needs, request, 'resource server');
      const ownHash = await requestHash(needs, request);
      const before = await needs.snapshots.load(resourceServers, { tenantId, id });
      if (before.status === 'active') {
        return reusedKey(ownHash, before.requestHash) ?? { ok: shown(tenantId, before) };
      }
      return created(needs, request, { id, request_hash: ownHash });
    },
  );

async function created(
  needs: Dependencies,
  request: Request<object, object, Static<typeof Body>>,
  { id, request_hash }: { readonly id: string; readonly request_hash: string | null },
) {
  const { body, tenantId } = request;
  const command = await needs.command(request);
  const hash = await identifierHash(needs.sealer, body.identifier);
  const value = { stream: resourceReservations, hash };
  const isOrphan = async (owner: string): Promise<boolean> => {
    const { tenantId: holder, userId: heldId } = readOwner(owner);
    const of = { tenantId: holder, id: heldId };
    return (await needs.snapshots.load(resourceServers, of)).status === 'none';
  };
  const owner = printOwner({ tenantId, userId: id });
  const by = { command: inDeployment(command), isOrphan };
  const { reserved } = await reserve(needs.streams, value, owner, by);
  if (!reserved) return { refused: 'identifier_taken' } as const;
  const create = {
    id,
    identifier: body.identifier,
    name: body.name.trim(),
    scopes: body.scopes ?? [],
    token_ttl_seconds: body.token_ttl_seconds ?? TTL_DEFAULT_S,
    created_at: command.now.toISOString(),
    identifier_hash: hash,
    request_hash,
  };
  const decided = await needs.streams.decideOn(resourceServers, id, command, (server) =>
    createResourceServer(create, server),
  );
  if (decided.state.status !== 'active') return { refused: 'identifier_taken' } as const;
  return { ok: shown(tenantId, decided.state), wrote: decided.position };
}

export const listResourceServersRoute = ({ database }: Pick<Dependencies, 'database'>): Endpoint =>
  endpoint(
    {
      tag: 'Applications',
      who: ['admin'],
      name: 'list_resource_servers',
      machine: 'applications:read',
      access: { class: 'things', applicationScope: 'account' },
      summary: 'List resource servers',
      description: 'Lists the resource servers of the tenant.',
      method: 'get',
      path: PATH,
      query: Type.Object(pageQuery),
      ok: closed({ resource_servers: Type.Array(ResourceServerShape), ...pageAnswer }),
      refusals: {},
      consistency: { reads: ['resource_servers'] },
    },
    async ({ tenantId, query }) => {
      const { offset = 0, limit = PAGE_SIZE_DEFAULT } = query;
      const { rows, total } = await pageOfTenant(database, tenantId, {
        select: LISTED,
        from: 'identity.resource_servers',
        where: 'tenant_id = $1',
        values: [tenantId],
        order: 'created_at, id',
        offset,
        limit,
      });
      const resource_servers = rows.map((row) => ({
        ...row,
        created_at: row.created_at.toISOString(),
      }));
      return { ok: { resource_servers, total, offset, limit } };
    },
  );

export const deleteResourceServerRoute = (
  needs: Pick<Dependencies, 'command' | 'streams'>,
): Endpoint =>
  endpoint(
    {
      tag: 'Applications',
      who: ['admin'],
      name: 'delete_resource_server',
      machine: 'applications:write',
      access: { class: 'settings', stepUp: 'users' },
      repeat: 'safe',
      summary: 'Delete a resource server',
      description: 'Deletes a resource server; no tokens are issued for it any more.',
      method: 'delete',
      path: `${PATH}/{id}`,
      params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 128 }) }),
      ok: closed({ status: Type.Literal('resource server deleted') }),
      refusals: { not_found: 404 },
      consistency: { waitsFor: ['resource_servers'] },
    },
    async (request) => {
      const { id } = request.params;
      const { tenantId } = request;
      const command = await needs.command(request);
      const decided = await needs.streams.decideOn(resourceServers, id, command, (server) =>
        deleteResourceServer({ id, now: command.now }, server),
      );
      if (!decided.accepted) return { refused: decided.reason };
      if (decided.state.status === 'deleted') {
        const value = { stream: resourceReservations, hash: decided.state.identifierHash };
        const owner = printOwner({ tenantId, userId: id });
        await release(needs.streams, value, owner, inDeployment(command));
      }
      return { ok: { status: 'resource server deleted' as const }, wrote: decided.position };
    },
  );

/** An identifier can be registered once in the whole deployment, by one tenant. */
const inDeployment = (command: Command): Command => ({
  ...command,
  metadata: { ...command.metadata, tenantId: DEPLOYMENT_TENANT },
});

const shown = (tenantId: string, server: ExistingResourceServer) => ({
  id: server.id,
  tenant_id: tenantId,
  identifier: server.identifier,
  name: server.name,
  scopes: server.scopes.map((scope) => ({ ...scope })),
  token_ttl_seconds: server.token_ttl_seconds,
  created_at: server.created_at,
});
