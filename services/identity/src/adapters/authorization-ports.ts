/** What the authorization server's library asks of Cardea, in types of our own. */
import type { IncomingMessage } from 'node:http';
import type { DpopProofs } from '@cardea/auth';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Basis } from '../streams/basis.ts';
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
  /** Scopes of OpenID Connect that were granted, space separated. */
  readonly openid: string;
  /** Whether the request named scopes. */
  readonly namesScope: boolean;
  /** Unix seconds: tokens end that the client, as it was found when it proved itself, got before. */
  readonly clientNotBefore: number;
  readonly ttlSeconds: number;
  readonly authTime: number;
  readonly amr: readonly string[];
  /** The session of the sign-in at the hosted pages. */
  readonly browserSid: string;
  /** The thumbprint of the key to which the token is bound. */
  readonly thumbprint: string | undefined;
};

/** An artifact that is used some time after it was stored, and what it is about. */
export type RestingArtifact = {
  readonly tenantId: string;
  readonly clientId: string;
  /** Who is signed in at the hosted pages. */
  readonly user?: { readonly id: string; readonly browserSid: string } | undefined;
  readonly grantId?: string | undefined;
};
export type ArtifactBasis = {
  readonly tenantId: string;
  readonly userId: string | undefined;
  readonly basis: Basis;
};

/** Where a client is counted. */
export type LimitedRoute = 'token' | 'par' | 'device';

export type Ports = {
  readonly issuer: string;
  readonly builtIn: string;
  readonly scopes: readonly string[];
  /** Private halves as JWKs: of each algorithm the active key first, then retired ones. */
  readonly jwks: readonly object[];
  readonly cookieKeys: readonly string[];
  readonly accessSeconds: number;
  readonly artifacts: ArtifactCache;
  readonly basisOf: (artifact: RestingArtifact) => Promise<ArtifactBasis>;
  /** Whether nothing of it has ended; a code's session is then started in the epoch that was seen here. */
  readonly stillStands: (message: Message | undefined, basis: ArtifactBasis) => Promise<boolean>;
  readonly client: (id: string) => Promise<ClientMetadata | undefined>;
  readonly hasSecret: (id: string, shown: string) => Promise<boolean>;
  readonly resource: (
    /** Without scopes of its own the client may ask for all of the resource. */
    client: {
      readonly tenantId: string;
      readonly scopes: readonly string[] | undefined;
      /** The scopes of Cardea's own API that a machine has. */
      readonly machineScopes: readonly string[] | undefined;
    },
    identifier: string,
  ) => Promise<ResourceFacts | undefined>;
  readonly grantById: (id: string) => Promise<GrantPayload | undefined>;
  /** The grant of the user who is signed in; makes one where nobody has to be asked. */
  readonly grantFor: (message: Message, of: GrantFor) => Promise<string | undefined>;
  /** Claims of the application's own that the page of a consent has to name. */
  readonly claimsToShow: (of: ClaimsRequest) => Promise<readonly ShownClaim[]>;
  /** Whether any program of the device may receive what is sent to the redirect URI. */
  readonly isOwnerUnknown: (redirectUri: string) => boolean;
  readonly account: (tenantId: string, id: string) => Promise<Account | undefined>;
  readonly isSignedIn: (tenantId: string, userId: string, browserSid: string) => Promise<boolean>;
  /** Another account signs in where this sign-in was. */
  readonly browserReplaced: (message: Message, browserSid: string) => Promise<void>;
  /** The same account signs in once more where it was signed in. */
  readonly browserContinued: (
    message: Message,
    of: { readonly sid: string; readonly earlier: string },
  ) => Promise<void>;
  /** Claims of the access token; remembers what the code's session is started with. */
  readonly accessClaims: (message: Message, of: IssuedFor) => Promise<AccessClaims>;
  /** The answer to a code, completed before it is sent. */
  readonly afterCode: (
    message: Message,
    answer: TokenAnswer,
    code: ExchangedCode,
  ) => Promise<object>;
  readonly readProof: DpopProofs['read'];
  readonly devicePages: DevicePages;
  /** Looks a code up that somebody has typed; wrong ones are counted by address. */
  readonly tryUserCode: <Found>(
    message: Message,
    find: () => Promise<Found | undefined>,
  ) => Promise<Found | undefined | 'too_many'>;
  readonly refresh: (message: Message, of: RefreshRequest) => Promise<object | RefreshFault>;
  /** A refresh token, as far as it is genuine and its session goes on. */
  readonly refreshToken: (text: string) => Promise<GenuineRefreshToken | undefined>;
  readonly endSession: (message: Message, refreshToken: string) => Promise<void>;
  /** An active agent as a client that may exchange tokens, and nothing else. */
  readonly agentClient: (id: string) => Promise<ClientMetadata | undefined>;
  /** Whether it is a live key of that agent from this address; remembers whose key it was. */
  readonly provesAgent: (
    message: Message,
    id: string,
    shown: string,
  ) => Promise<boolean | 'too_many'>;
  readonly exchange: (
    message: Message,
    of: TokenExchangeRequest,
  ) => Promise<object | TokenExchangeFault>;
  /** Documents by which clients describe themselves. */
  readonly fetchDocument: (url: string) => Promise<Response>;
  /** Whether one may be fetched for this request; counts it. */
  readonly admitsDocument: (message: Message) => Promise<boolean>;
  /** The tenant of a resource that lets in clients which describe themselves. */
  readonly documentTenant: (resource: string) => Promise<string | undefined>;
  /**
   * Whether so many requests that name the client are let in from this address; counts this one. Naming a
   * client proves nothing, so others of the client go on.
   */
  readonly admits: (message: Message, clientId: string, to: LimitedRoute) => Promise<boolean>;
  /** The same of requests in which the client has proven itself, from wherever they come. */
  readonly admitsProven: (clientId: string, to: LimitedRoute) => Promise<boolean>;
  /** Whether this request may leave so many bytes in the cache; counts them. */
  readonly admitsArtifact: (
    message: Message,
    of: { readonly tenantId: string | undefined; readonly bytes: number },
  ) => Promise<boolean>;
  /** For the log: why the library refused a request. Its texts repeat parameters, and never a secret. */
  readonly refused: (message: Message, error: OAuthRefusal) => void;
  readonly clientFailed: (message: Message, failure: ClientFailure) => Promise<void>;
  readonly codeReplayed: (message: Message, code: string) => Promise<void>;
  readonly errorPage: (ctx: Ctx, error: { error: string; error_description?: string }) => void;
  /** Before the answer is sent: the tenant of its client, as far as one was found. */
  readonly answered: (message: Message, tenantId: string | undefined) => void;
  readonly failed: (error: unknown) => void;
};
/** `error_description` is sent to the client, `error_detail` is not. */
export type OAuthRefusal = {
  readonly error?: string;
  readonly error_description?: string;
  readonly error_detail?: string;
};
/** Space separated scopes, which the answer repeats. */
export type AccessClaims = { readonly [claim: string]: unknown };
/** What the library answers; its own id_token is replaced. */
export type TokenAnswer = {
  readonly access_token: string;
  readonly id_token?: string;
  readonly scope?: string;
};
export type ExchangedCode = {
  readonly code: string;
  readonly nonce: string | undefined;
  /** Scopes of OpenID Connect that were granted, space separated. */
  readonly openid: string;
};
/** The pages at which a person decides about a device. `secret` comes back with what they decide. */
export type DevicePages = {
  /** Programs are told of a failure in JSON. */
  readonly isWanted: (ctx: Ctx) => boolean;
  /** `fault`: the library's name of what was wrong with the code before. */
  readonly input: (
    ctx: Ctx,
    shown: {
      readonly secret: string;
      readonly fault: string | undefined;
      readonly typed: string | undefined;
    },
  ) => void;
  readonly confirm: (
    ctx: Ctx,
    shown: {
      readonly secret: string;
      readonly userCode: string;
      readonly params: { readonly [name: string]: unknown };
    },
  ) => Promise<void>;
  readonly done: (ctx: Ctx) => Promise<void>;
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
export type ClaimsRequest = {
  readonly tenantId: string;
  readonly userId: string;
  readonly clientId: string;
  /** That the request names. */
  readonly scopes: readonly string[];
  /** Also those that the person has let the application have before. */
  readonly showsAll: boolean;
};
/** A claim of the application's own, as the page of a consent names it. */
export type ShownClaim = { readonly name: string; readonly from: string; readonly scope: string };
export type RefreshRequest = {
  readonly tenantId: string;
  readonly clientId: string;
  readonly token: string;
  readonly scope: string | undefined;
  readonly resource: string | undefined;
  /** The thumbprint of the key that the request was proven to have. */
  readonly thumbprint: string | undefined;
  /** Throws where its proof was used before. */
  readonly useProof: () => Promise<void>;
};
export type RefreshFault = { readonly fault: 'invalid_grant' | 'invalid_scope' | 'invalid_target' };
/** Parameters of RFC 8693, 2.1, and who asks. */
export type TokenExchangeRequest = {
  readonly who: 'agent' | 'application';
  readonly subjectToken: string | undefined;
  readonly subjectTokenType: string | undefined;
  readonly actorToken: string | undefined;
  readonly actorTokenType: string | undefined;
  readonly requestedTokenType: string | undefined;
  readonly audience: string | undefined;
  readonly resource: string | undefined;
  readonly scope: string | undefined;
  /** A proof of possession came with it. */
  readonly provesKey: boolean;
};
export type TokenExchangeFault =
  | { readonly fault: 'invalid_client' | 'invalid_grant' | 'invalid_request' | 'invalid_scope' }
  | { readonly fault: 'too_many'; readonly retryAfterSeconds: string };
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

/** Undefined for whatever acts for users. */
export const machineScopesOf = (client: Ctx['oidc']['client']): readonly string[] | undefined => {
  const scopes = client?.['machine_scopes'];
  return typeof scopes === 'string' ? scopes.split(' ') : undefined;
};

const isDocument = (client: Ctx['oidc']['client']): boolean =>
  client?.['clientIdMetadataDocument'] === true;

type ResourcePorts = Pick<Ports, 'artifacts' | 'documentTenant' | 'refreshToken'>;

/** For a client that describes itself this is the tenant of the resource that the request is about. */
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
