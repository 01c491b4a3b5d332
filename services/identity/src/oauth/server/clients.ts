/** Maps registered applications to client metadata of the authorization server's library. */
import { parseKey } from '@cardea/crypto';
import { type Clock, isUuid, type Settings, storedId } from '@cardea/runtime';
import { DEFAULT_CLIENT_ALGORITHM } from '../../adapters/client-algorithms.ts';
import { verificationKey } from '../../adapters/client-key.ts';
import { DEVICE_GRANT } from '../../adapters/device-flow.ts';
import { recognise } from '../../streams/key-secret.ts';
import type { SnapshotCache } from '../../streams/snapshot-cache.ts';
import {
  applications,
  type ExistingApplication,
  type Workspaces,
} from '../../workspaces/workspaces.module.ts';
import { isDocumentId } from '../client-documents/client-document.ts';
import type { ClientDocuments } from '../client-documents/client-documents.ts';
import { pagesClient, tenantOfPagesClient } from '../page-sign-in/pages-client.ts';
import { isBuiltInScope } from '../resource-servers/known-resources.ts';

export type OAuthClient = {
  readonly tenantId: string;
  readonly application: Pick<
    ExistingApplication,
    | 'branding'
    | 'claims'
    | 'dpop_bound_access_tokens'
    | 'first_party'
    | 'grant_types'
    | 'id'
    | 'id_token_signed_response_alg'
    | 'machine_scopes'
    | 'name'
    | 'roles'
    | 'secret'
  > & {
    /** Undefined means all scopes of the resource. */
    readonly scopes: readonly string[] | undefined;
  };
};
type RegisteredClient = { readonly tenantId: string; readonly application: ExistingApplication };

export type OAuthClients = {
  readonly find: (clientId: string) => Promise<RegisteredClient | undefined>;
  /** Also finds a self-described client, if the resource allows it. */
  readonly findFor: (of: {
    readonly clientId: string;
    readonly resource: string;
  }) => Promise<OAuthClient | undefined>;
  readonly hasSecret: (clientId: string, shown: string) => Promise<boolean>;
  /** Null if the application was deleted. A self-described client has no version. */
  readonly version: (clientId: string) => Promise<number | null>;
};

type Dependencies = {
  readonly snapshots: Pick<SnapshotCache, 'find'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly settings: Pick<Settings, 'PUBLIC_URL'>;
  readonly clientDocuments: Pick<ClientDocuments, 'nameOf' | 'tenantOf'>;
};

/** Clients that an administrator has registered. */
export const registeredClient =
  ({
    snapshots,
    workspaces,
    settings,
  }: Pick<Dependencies, 'settings' | 'snapshots' | 'workspaces'>): OAuthClients['find'] =>
  async (named) => {
    const tenantId = tenantOfPagesClient(named);
    if (tenantId !== undefined) {
      const tenant = await workspaces.tenant(tenantId);
      if (tenant === undefined) return undefined;
      return { tenantId, application: pagesClient(tenantId, settings.PUBLIC_URL) };
    }
    const id = storedId(named);
    if (!isUuid(id)) return undefined;
    const found = await snapshots.find(applications, id);
    if (found?.state.status !== 'active') return undefined;
    if ((await workspaces.tenant(found.tenantId)) === undefined) return undefined;
    return { tenantId: found.tenantId, application: found.state };
  };

export function oauthClients(needs: Dependencies): OAuthClients {
  const { clock, clientDocuments } = needs;
  const find = registeredClient(needs);
  return {
    find,
    findFor: async ({ clientId: id, resource }) => {
      if (!isDocumentId(id)) return find(id);
      const tenant = await clientDocuments.tenantOf(resource);
      if (tenant === undefined) return undefined;
      const name = await clientDocuments.nameOf(id);
      const own = { first_party: false, branding: {}, grant_types: GRANTS, scopes: undefined };
      const application = {
        id,
        name,
        ...own,
        secret: null,
        dpop_bound_access_tokens: false,
        claims: [],
        roles: [],
        machine_scopes: [],
        id_token_signed_response_alg: DEFAULT_CLIENT_ALGORITHM,
      };
      return { tenantId: tenant.id, application };
    },
    version: async (id) => (await find(id))?.application.version ?? null,
    hasSecret: async (id, shown) => {
      const secret = (await find(id))?.application.secret ?? null;
      const key = parseKey(shown);
      if (secret === null || key?.kind !== 'cs') return false;
      return recognise(key.secret, secret, clock.now()) !== undefined;
    },
  };
}

/**
 * The thumbprint to which a refresh token is bound. Only refresh tokens of public clients are bound, since these
 * clients have no other proof (RFC 9449, 5).
 */
export const boundKey = (
  { application }: OAuthClient,
  thumbprint: string | undefined,
): string | undefined => (application.secret === null ? thumbprint : undefined);

const GRANTS = ['authorization_code', 'refresh_token'] as const;

/** Returns undefined for a client without any redirect URI that is not a device client either. */
export function clientMetadata({ tenantId, application }: RegisteredClient) {
  const { id, type, redirect_uris, grant_types, scopes, jwks, secret } = application;
  const isMachine = type === 'm2m';
  const isRedirected = redirect_uris.length > 0 && grant_types.includes('authorization_code');
  const grants = grant_types.filter((grant) => grant !== 'authorization_code' || isRedirected);
  if (!isMachine && !isRedirected && !grants.includes(DEVICE_GRANT)) return undefined;
  const isPublic = secret === null;
  const byKey = jwks.length > 0;
  return {
    client_id: id,
    client_name: application.name,
    application_type: type === 'native' ? 'native' : 'web',
    redirect_uris: isRedirected ? [...redirect_uris] : [],
    response_types: isRedirected ? ['code'] : [],
    grant_types: grants,
    // Only scopes that the library knows. An empty list would allow every scope, so `openid` is the default.
    scope: scopes.filter(isBuiltInScope).join(' ') || 'openid',
    allowed_scopes: scopes.join(' '),
    ...(isMachine ? { machine_scopes: application.machine_scopes.join(' ') } : {}),
    tokens_before: application.tokensBefore,
    id_token_signed_response_alg: application.id_token_signed_response_alg,
    require_pushed_authorization_requests: application.require_par,
    require_pkce: application.require_pkce,
    dpop_bound_access_tokens: application.dpop_bound_access_tokens,
    token_endpoint_auth_method: isPublic
      ? 'none'
      : byKey
        ? 'private_key_jwt'
        : 'client_secret_basic',
    // The library never compares this value. A secret that a client sends is compared with the hash in the stream.
    ...(isPublic || byKey ? {} : { client_secret: 'in the stream' }),
    ...(byKey ? { jwks: { keys: jwks.map(verificationKey) } } : {}),
    tenant_id: tenantId,
    first_party: application.first_party,
  };
}
