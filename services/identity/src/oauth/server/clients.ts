/** Applications as the authorization server's library knows clients. */
import { parseKey } from '@cardea/crypto';
import type { Clock } from '@cardea/runtime';
import { recognise } from '../../streams/key-secret.ts';
import type { SnapshotCache } from '../../streams/snapshot-cache.ts';
import {
  applications,
  type ExistingApplication,
  type Workspaces,
} from '../../workspaces/workspaces.module.ts';
import { isDocumentId } from '../client-documents/client-document.ts';
import type { ClientDocuments } from '../client-documents/client-documents.ts';
import { isBuiltInScope } from '../resource-servers/known-resources.ts';

export type OAuthClient = {
  readonly tenantId: string;
  readonly application: Pick<
    ExistingApplication,
    'branding' | 'first_party' | 'grant_types' | 'id' | 'name'
  >;
};
type RegisteredClient = { readonly tenantId: string; readonly application: ExistingApplication };

export type OAuthClients = {
  readonly find: (clientId: string) => Promise<RegisteredClient | undefined>;
  /** Also one that describes itself by a document, at a resource that lets it in. */
  readonly findFor: (of: {
    readonly clientId: string;
    readonly resource: string;
  }) => Promise<OAuthClient | undefined>;
  readonly hasSecret: (clientId: string, shown: string) => Promise<boolean>;
};

type Dependencies = {
  readonly snapshots: Pick<SnapshotCache, 'find'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly clientDocuments: Pick<ClientDocuments, 'nameOf' | 'tenantOf'>;
};

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function oauthClients({
  snapshots,
  workspaces,
  clock,
  clientDocuments,
}: Dependencies): OAuthClients {
  const find: OAuthClients['find'] = async (id) => {
    if (!ID.test(id)) return undefined;
    const found = await snapshots.find(applications, id);
    if (found?.state.status !== 'active') return undefined;
    if ((await workspaces.tenant(found.tenantId)) === undefined) return undefined;
    return { tenantId: found.tenantId, application: found.state };
  };
  return {
    find,
    findFor: async ({ clientId: id, resource }) => {
      if (!isDocumentId(id)) return find(id);
      const tenant = await clientDocuments.tenantOf(resource);
      if (tenant === undefined) return undefined;
      const name = await clientDocuments.nameOf(id);
      const application = { id, name, first_party: false, branding: {}, grant_types: GRANTS };
      return { tenantId: tenant.id, application };
    },
    hasSecret: async (id, shown) => {
      const secret = (await find(id))?.application.secret ?? null;
      const key = parseKey(shown);
      if (secret === null || key?.kind !== 'cs') return false;
      return recognise(key.secret, secret, clock.now()) !== undefined;
    },
  };
}

const GRANTS = ['authorization_code', 'refresh_token'] as const;

/** Undefined for one that nobody can be sent back to. */
export function clientMetadata({ tenantId, application }: RegisteredClient) {
  const { id, type, redirect_uris, grant_types, scopes, jwks, secret } = application;
  const isMachine = type === 'm2m';
  if (!isMachine && redirect_uris.length === 0) return undefined;
  const isPublic = secret === null;
  const byKey = jwks.length > 0;
  return {
    client_id: id,
    client_name: application.name,
    application_type: type === 'native' ? 'native' : 'web',
    redirect_uris: isMachine ? [] : [...redirect_uris],
    response_types: isMachine ? [] : ['code'],
    grant_types: [...grant_types],
    // Those that the library knows. None would allow every one, and `openid` alone tells nothing new.
    scope: scopes.filter(isBuiltInScope).join(' ') || 'openid',
    allowed_scopes: scopes.join(' '),
    require_pushed_authorization_requests: application.require_par,
    token_endpoint_auth_method: isPublic
      ? 'none'
      : byKey
        ? 'private_key_jwt'
        : 'client_secret_basic',
    // Never compared: what is shown is held against the hash of the stream.
    ...(isPublic || byKey ? {} : { client_secret: 'in the stream' }),
    ...(byKey ? { jwks: { keys: jwks.map((jwk) => ({ ...jwk })) } } : {}),
    tenant_id: tenantId,
    first_party: application.first_party,
  };
}
