/** Administrators create, list, rotate and revoke their tenant's API keys. A key is shown only once. */
import {
  documented,
  NullableTime,
  named,
  PAGE_SIZE_DEFAULT,
  pageAnswer,
  pageQuery,
  Time,
} from '@cardea/contracts';
import { type Endpoint, endpoint } from '@cardea/http';
import { repeatAnswer, requestHash, type ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { badField, closed } from '../../../http/answers.ts';
import { filledNameField } from '../../../http/input-fields.ts';
import type { SnapshotCache } from '../../../streams/snapshot-cache.ts';
import type { Workspaces } from '../../../workspaces/workspaces.module.ts';
import { drawKey, drawSecret, environmentOf, futureMoment } from '../../key-issuing.ts';
import { type ApiKeyData, apiKeys, issueApiKey, revokeApiKey, rotateApiKey } from '../api-key.ts';
import { isScope, SCOPE_DESCRIPTIONS, SCOPES, unknownScopes } from '../scopes.ts';
import { listApiKeys, prefixOfApiKey } from './list-api-keys.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'command' | 'database' | 'random' | 'sealer' | 'streams'
> & {
  readonly snapshots: Pick<SnapshotCache, 'load'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
};

const PATH = '/api/v1/api-keys';
const Environment = named('ApiKeyEnvironment', Type.Enum(['live', 'test']));
const NullableText = Type.Union([Type.String(), Type.Null()]);
const keyFields = {
  id: Type.String(),
  name: Type.String(),
  prefix: Type.String(),
  scopes: Type.Array(Type.String()),
  environment: Environment,
  app_id: NullableText,
  created_at: Time,
  expires_at: NullableTime,
};
const Id = Type.Object({ id: Type.String({ minLength: 1, maxLength: 128 }) });
const SCOPES_MAX = 50;
/** An unknown scope is refused with 400 `invalid_scope`. */
const scopeField = documented(Type.String({ maxLength: 64 }), {
  pattern: `^(?:${SCOPES.join('|')})$`,
});
const GRACE_MAX_S = 86_400;

export const createApiKeyRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      tag: 'API keys',
      who: ['admin'],
      name: 'create_api_key',
      machine: 'never',
      access: { class: 'settings', stepUp: 'users' },
      summary: 'Make an API key',
      description:
        'Makes a key with which a server calls the API, and shows it this once. Its scopes are fixed. It ranks as `member`, whatever its scopes.',
      method: 'post',
      path: PATH,
      body: closed({
        name: filledNameField,
        scopes: Type.Array(scopeField, {
          minItems: 1,
          maxItems: SCOPES_MAX,
          uniqueItems: true,
        }),
        environment: Type.Optional(Environment),
        app_id: Type.Optional(Type.Union([Type.String({ maxLength: 128 }), Type.Null()])),
        expires_at: Type.Optional(NullableTime),
      }),
      ok: closed({ ...keyFields, key: Type.String() }),
      response: { status: 201, isSecret: true },
      refusals: {
        invalid_request: 400,
        invalid_scope: 400,
        already_created: 409,
        idempotency_key_reused: 422,
      },
      repeat: 'by_key',
      consistency: { waitsFor: ['api_keys'] },
    },
    {
      readAhead: async ({ body, tenantId }) =>
        body.environment ?? (await environmentOf(needs, tenantId)),
      handle: async (request, environment) => {
        const { body, principal } = request;
        if (!body.scopes.every(isScope)) return unknownScopes(body.scopes);
        const command = await needs.command(request);
        const expiresAt =
          body.expires_at == null ? null : futureMoment(body.expires_at, command.now);
        if (expiresAt === undefined) return badField('expires_at', 'future date-time');
        const issued = drawKey(needs, request, { kind: 'svc', environment });
        const ownHash = await requestHash(needs, request);
        const data: ApiKeyData = {
          id: issued.id,
          name: body.name,
          scopes: body.scopes,
          environment,
          app_id: body.app_id ?? null,
          created_by: principal.id,
          created_at: command.now.toISOString(),
          expires_at: expiresAt,
        };
        const issue = { ...data, hash: issued.secretHash, request_hash: ownHash };
        const decided = await needs.streams.decideOn(apiKeys, issued.id, command, {
          isNew: true,
          decide: (key) => issueApiKey(issue, key),
        });
        if (!decided.accepted || decided.repeated) {
          const { state } = decided;
          const requestHash = state.status === 'none' ? null : state.requestHash;
          return repeatAnswer(ownHash, { id: issued.id, requestHash });
        }
        return { ok: { ...shown(data), key: issued.text }, wrote: decided.position };
      },
    },
  );

export const listApiKeysRoute = (needs: Pick<Dependencies, 'database'>): Endpoint =>
  endpoint(
    {
      tag: 'API keys',
      who: ['admin'],
      name: 'list_api_keys',
      machine: 'never',
      access: { class: 'things', applicationScope: 'account' },
      summary: 'List API keys',
      description: 'Lists the API keys of the tenant, without the keys themselves.',
      method: 'get',
      path: PATH,
      query: Type.Object(pageQuery),
      ok: closed({
        api_keys: Type.Array(named('ApiKey', closed({ ...keyFields, last_used_at: NullableText }))),
        ...pageAnswer,
      }),
      refusals: {},
      consistency: { reads: ['api_keys'] },
    },
    async ({ tenantId, query }) => {
      const { offset = 0, limit = PAGE_SIZE_DEFAULT } = query;
      const { rows, total } = await listApiKeys(needs.database, { tenantId, offset, limit });
      return { ok: { api_keys: [...rows], total, offset, limit } };
    },
  );

export const listScopesRoute = (): Endpoint =>
  endpoint(
    {
      tag: 'API keys',
      who: ['admin'],
      name: 'list_api_key_scopes',
      machine: 'never',
      access: { class: 'things', applicationScope: 'account' },
      summary: 'The scopes that an API key can have, and what each lets its holder reach',
      description:
        'Lists the scopes that an API key can have, and what each lets its holder reach.',
      method: 'get',
      path: `${PATH}/scopes`,
      ok: closed({
        scopes: Type.Array(Type.String()),
        descriptions: Type.Record(Type.String(), Type.String()),
      }),
      refusals: {},
    },
    async () => ({ ok: { scopes: [...SCOPES], descriptions: { ...SCOPE_DESCRIPTIONS } } }),
  );

export const rotateApiKeyRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      tag: 'API keys',
      who: ['admin'],
      name: 'rotate_api_key',
      machine: 'never',
      access: { class: 'settings', stepUp: 'users' },
      repeat: 'never',
      summary: 'Give an API key a new secret',
      description:
        'Gives an API key a new secret and shows it this once. The one of before is accepted for `grace_seconds`, too.',
      method: 'post',
      path: `${PATH}/{id}/rotate`,
      params: Id,
      body: closed({
        grace_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: GRACE_MAX_S })),
      }),
      input: { isOptional: true },
      ok: closed({ key: Type.String() }),
      response: { isSecret: true },
      refusals: { not_found: 404 },
      consistency: { waitsFor: ['api_keys'] },
    },
    async (request) => {
      const { params, body, tenantId } = request;
      const before = await needs.snapshots.load(apiKeys, { tenantId, id: params.id });
      if (before.status !== 'active') return { refused: 'not_found' };
      const { environment } = before.key;
      const { text, hash } = drawSecret(needs, { kind: 'svc', environment, id: params.id });
      const command = await needs.command(request);
      const rotate = { hash, graceSeconds: body.grace_seconds ?? 0, now: command.now };
      const decided = await needs.streams.decideOn(apiKeys, params.id, command, (key) =>
        rotateApiKey(rotate, key),
      );
      if (!decided.accepted || decided.state.status === 'none') return { refused: 'not_found' };
      return { ok: { key: text }, wrote: decided.position };
    },
  );

export const revokeApiKeyRoute = (needs: Pick<Dependencies, 'command' | 'streams'>): Endpoint =>
  endpoint(
    {
      tag: 'API keys',
      who: ['admin'],
      name: 'revoke_api_key',
      machine: 'never',
      access: { class: 'settings', stepUp: 'users' },
      repeat: 'safe',
      summary: 'Revoke an API key',
      description: 'Revokes an API key; it is not accepted after the answer.',
      method: 'delete',
      path: `${PATH}/{id}`,
      params: Id,
      ok: closed({ status: Type.Literal('revoked') }),
      refusals: { not_found: 404 },
      consistency: { waitsFor: ['api_keys', 'revocations'] },
    },
    async (request) => {
      const { id } = request.params;
      const command = await needs.command(request);
      const decided = await needs.streams.decideOn(apiKeys, id, command, (key) =>
        revokeApiKey(command.now, key),
      );
      if (!decided.accepted) return { refused: decided.reason };
      return { ok: { status: 'revoked' as const }, wrote: decided.position };
    },
  );

const shown = ({ created_by: _by, scopes, ...key }: ApiKeyData) => ({
  ...key,
  scopes: [...scopes],
  prefix: prefixOfApiKey(key),
});
