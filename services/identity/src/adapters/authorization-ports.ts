/** What the authorization server's library asks of Cardea, in types of our own. */
import type { IncomingMessage } from 'node:http';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { ArtifactCache } from './artifact-cache.ts';

/** A message as it came in; the library reads it. */
export type Message = IncomingMessage;
export type Ctx = KoaContextWithOIDC;
export type ClientMetadata = { readonly [name: string]: unknown };
export type GrantPayload = {
  readonly accountId: string;
  readonly clientId: string;
  /** By resource; those of OpenID Connect under the empty name. */
  readonly granted: { readonly [resource: string]: readonly string[] };
};
export type Account = {
  readonly id: string;
  readonly claims: (scopes: readonly string[]) => Promise<{ readonly [claim: string]: unknown }>;
};
export type ResourceFacts = { readonly scopes: readonly string[]; readonly ttlSeconds: number };
export type IssuedFor = {
  /** Undefined for a client that speaks for itself. */
  readonly userId: string | undefined;
  readonly tenantId: string;
  readonly clientId: string;
  readonly grantId: string | undefined;
  readonly resource: string;
  readonly scope: string;
  readonly ttlSeconds: number;
  readonly authTime: number;
  readonly amr: readonly string[];
  /** Of the sign-in at the hosted pages. */
  readonly browserSid: string;
};

export type Ports = {
  readonly issuer: string;
  readonly builtIn: string;
  readonly scopes: readonly string[];
  /** Private half of the active key first, then public halves of retired ones, as JWKs. */
  readonly jwks: readonly object[];
  readonly cookieKeys: readonly string[];
  readonly accessSeconds: number;
  readonly artifacts: ArtifactCache;
  readonly client: (id: string) => Promise<ClientMetadata | undefined>;
  readonly hasSecret: (id: string, shown: string) => Promise<boolean>;
  readonly resource: (
    /** Without scopes of its own the client may ask for all of the resource. */
    client: { readonly tenantId: string; readonly scopes: readonly string[] | undefined },
    identifier: string,
  ) => Promise<ResourceFacts | undefined>;
  readonly grantById: (id: string) => Promise<GrantPayload | undefined>;
  /** The grant of the user who is signed in; makes one where nobody has to be asked. */
  readonly grantFor: (message: Message, of: GrantFor) => Promise<string | undefined>;
  readonly account: (tenantId: string, id: string) => Promise<Account | undefined>;
  readonly isSignedIn: (tenantId: string, userId: string, browserSid: string) => Promise<boolean>;
  /** Claims of the access token; remembers what the code's session is started with. */
  readonly accessClaims: (message: Message, of: IssuedFor) => Promise<object>;
  /** The answer to a code, completed before it is sent. */
  readonly afterCode: (message: Message, answer: object, code: string) => Promise<object>;
  readonly refresh: (message: Message, of: RefreshRequest) => Promise<object | RefreshFault>;
  /** A refresh token, as far as it is genuine and its session goes on. */
  readonly refreshToken: (text: string) => Promise<GenuineRefreshToken | undefined>;
  readonly endSession: (message: Message, refreshToken: string) => Promise<void>;
  /** Documents by which clients describe themselves. */
  readonly fetchDocument: (url: string) => Promise<Response>;
  /** Whether one may be fetched for this request; counts it. */
  readonly admitsDocument: (message: Message) => Promise<boolean>;
  /** The tenant of a resource that lets in clients which describe themselves. */
  readonly documentTenant: (resource: string) => Promise<string | undefined>;
  /** Whether so many requests of the client are let in; counts this one. */
  readonly admits: (clientId: string, to: 'token' | 'par') => Promise<boolean>;
  readonly clientFailed: (message: Message, failure: ClientFailure) => Promise<void>;
  readonly codeReplayed: (message: Message, code: string) => Promise<void>;
  readonly errorPage: (ctx: Ctx, error: { error: string; error_description?: string }) => void;
  /** Before the answer is sent: the tenant of its client, as far as one was found. */
  readonly answered: (message: Message, tenantId: string | undefined) => void;
  readonly failed: (error: unknown) => void;
};
export type ClientFailure = {
  readonly tenantId: string;
  readonly clientId: string;
  readonly reason: 'wrong_secret' | 'wrong_assertion' | 'wrong_method';
};
export type GrantFor = {
  readonly tenantId: string;
  readonly userId: string;
  readonly clientId: string;
  readonly firstParty: boolean;
  /** What the request asks for, by resource. */
  readonly asked: { readonly [resource: string]: readonly string[] };
};
export type RefreshRequest = {
  readonly tenantId: string;
  readonly clientId: string;
  readonly token: string;
  readonly scope: string | undefined;
  readonly resource: string | undefined;
};
export type RefreshFault = { readonly fault: 'invalid_grant' | 'invalid_scope' | 'invalid_target' };
export type GenuineRefreshToken = {
  readonly sid: string;
  readonly clientId: string;
  readonly userId: string;
  /** That it was granted for. */
  readonly resource: string | undefined;
};

export const tenantOf = (client: Ctx['oidc']['client']): string =>
  String(client?.['tenant_id'] ?? '');
/** Undefined for a client that nobody has registered. */
export const scopesOf = (client: Ctx['oidc']['client']): readonly string[] | undefined =>
  isDocument(client) ? undefined : String(client?.['allowed_scopes'] ?? '').split(' ');

const isDocument = (client: Ctx['oidc']['client']): boolean =>
  client?.['clientIdMetadataDocument'] === true;

type ResourcePorts = Pick<Ports, 'artifacts' | 'documentTenant' | 'refreshToken'>;

/** Of a client that describes itself it is the tenant of the resource that this request is about. */
export async function tenantFor(ports: ResourcePorts, ctx: Ctx): Promise<string> {
  const { client } = ctx.oidc;
  return isDocument(client) ? ((await documentTenantOf(ports, ctx)) ?? '') : tenantOf(client);
}

/** Undefined where the request is about no resource, or about one that lets no such clients in. */
export async function documentTenantOf(
  ports: ResourcePorts,
  ctx: Ctx,
): Promise<string | undefined> {
  const resource = ctx.oidc.params?.['resource'] ?? (await grantedResource(ports, ctx));
  return typeof resource === 'string' ? ports.documentTenant(resource) : undefined;
}

/** RFC 8707, 2.2: a request for tokens may leave the resource out, and then means the one that was granted. */
async function grantedResource({ artifacts, refreshToken }: ResourcePorts, { oidc }: Ctx) {
  const { params, entities } = oidc;
  const interaction = entities.Interaction as { params?: { resource?: unknown } } | undefined;
  const { code, refresh_token: token } = params ?? {};
  if (interaction?.params?.resource !== undefined) return interaction.params.resource;
  if (typeof code === 'string') {
    return (await artifacts.find('AuthorizationCode', code))?.value['resource'];
  }
  return typeof token === 'string' ? (await refreshToken(token))?.resource : undefined;
}
