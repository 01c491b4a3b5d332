/** The ports through which the authorization server's library uses Cardea, in types of our own. */
import type { IncomingMessage } from 'node:http';
import type { DpopProofs } from '@cardea/auth';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Basis } from '../streams/basis.ts';
import type { ArtifactCache } from './artifact-cache.ts';

/** The incoming message, which the library reads. */
export type Message = IncomingMessage;
export type Ctx = KoaContextWithOIDC;
export type ClientMetadata = { readonly [name: string]: unknown };
export type GrantPayload = {
  readonly accountId: string;
  readonly clientId: string;
  /** Scopes by resource. OpenID Connect scopes have the empty name as resource. */
  readonly granted: { readonly [resource: string]: readonly string[] };
};
export type Account = {
  readonly id: string;
  readonly claims: (scopes: readonly string[]) => Promise<{ readonly [claim: string]: unknown }>;
};
export type ResourceFacts = { readonly scopes: readonly string[]; readonly ttlSeconds: number };
export type IssuedFor = {
  /** Undefined for a client that acts for itself. */
  readonly userId: string | undefined;
  readonly tenantId: string;
  readonly clientId: string;
  readonly grantId: string | undefined;
  readonly resource: string;
  readonly scope: string;
  /** OpenID Connect scopes that were granted, separated by spaces. */
  readonly openid: string;
  /** Whether the request named scopes. */
  readonly namesScope: boolean;
  /**
   * The earliest `iat` for the client's tokens, in Unix seconds, as of the client's authentication. Older ones are
   * revoked.
   */
  readonly clientNotBefore: number;
  readonly ttlSeconds: number;
  readonly authTime: number;
  readonly amr: readonly string[];
  /** The session of the browser sign-in. */
  readonly browserSid: string;
  /** The thumbprint of the key to which the token is bound. */
  readonly thumbprint: string | undefined;
};

/** An artifact that is used some time after it was stored: its client, user and grant. */
export type RestingArtifact = {
  readonly tenantId: string;
  readonly clientId: string;
  /** The user who is signed in at the hosted pages. */
  readonly user?: { readonly id: string; readonly browserSid: string } | undefined;
  readonly grantId?: string | undefined;
};
export type ArtifactBasis = {
  readonly tenantId: string;
  readonly userId: string | undefined;
  readonly basis: Basis;
};

/** The endpoints whose requests are counted per client. */
export type LimitedRoute = 'token' | 'par' | 'device';

export type Ports = {
  readonly issuer: string;
  readonly builtIn: string;
  readonly scopes: readonly string[];
  /** Private keys as JWKs: for each algorithm the active key first, then retired keys. */
  readonly jwks: readonly object[];
  readonly cookieKeys: readonly string[];
  readonly accessSeconds: number;
  readonly artifacts: ArtifactCache;
  readonly basisOf: (artifact: RestingArtifact) => Promise<ArtifactBasis>;
  /** Whether the basis is still valid. A code's session then starts in the user epoch that was read here. */
  readonly stillStands: (message: Message | undefined, basis: ArtifactBasis) => Promise<boolean>;
  readonly client: (id: string) => Promise<ClientMetadata | undefined>;
  readonly hasSecret: (id: string, shown: string) => Promise<boolean>;
  readonly resource: (
    /** A client without its own scopes may request all scopes of the resource. */
    client: {
      readonly tenantId: string;
      readonly scopes: readonly string[] | undefined;
      /** The scopes that a machine has at Cardea's own API. */
      readonly machineScopes: readonly string[] | undefined;
    },
    identifier: string,
  ) => Promise<ResourceFacts | undefined>;
  readonly grantById: (id: string) => Promise<GrantPayload | undefined>;
  /** The signed-in user's grant. Creates one if no consent page is needed. */
  readonly grantFor: (message: Message, of: GrantFor) => Promise<string | undefined>;
  /** The application's own claims that the consent page has to name. */
  readonly claimsToShow: (of: ClaimsRequest) => Promise<readonly ShownClaim[]>;
  /** Whether any program on the device could receive redirects to the URI. */
  readonly isOwnerUnknown: (redirectUri: string) => boolean;
  readonly account: (tenantId: string, id: string) => Promise<Account | undefined>;
  readonly isSignedIn: (tenantId: string, userId: string, browserSid: string) => Promise<boolean>;
  /** Called when another account signs in and replaces this sign-in in the browser. */
  readonly browserReplaced: (message: Message, browserSid: string) => Promise<void>;
  /** Called when the same account signs in again in the browser. */
  readonly browserContinued: (
    message: Message,
    of: { readonly sid: string; readonly earlier: string },
  ) => Promise<void>;
  /** Returns the claims of the access token, and keeps the data with which the code's session starts. */
  readonly accessClaims: (message: Message, of: IssuedFor) => Promise<AccessClaims>;
  /** Completes the token response for a code before it is sent. */
  readonly afterCode: (
    message: Message,
    answer: TokenAnswer,
    code: ExchangedCode,
  ) => Promise<object>;
  readonly readProof: DpopProofs['read'];
  readonly devicePages: DevicePages;
  /** Finds the user code that a person has typed. Wrong codes are counted by address. */
  readonly tryUserCode: <Found>(
    message: Message,
    find: () => Promise<Found | undefined>,
  ) => Promise<Found | undefined | 'too_many'>;
  readonly refresh: (message: Message, of: RefreshRequest) => Promise<object | RefreshFault>;
  /** Returns a refresh token if it is genuine and its session has not ended. */
  readonly refreshToken: (text: string) => Promise<GenuineRefreshToken | undefined>;
  readonly endSession: (message: Message, refreshToken: string) => Promise<void>;
  /** An active agent in the form of a client that may only exchange tokens. */
  readonly agentClient: (id: string) => Promise<ClientMetadata | undefined>;
  /** Whether this is a live key of the agent and allowed from this address. Keeps the key's owner for later calls. */
  readonly provesAgent: (
    message: Message,
    id: string,
    shown: string,
  ) => Promise<boolean | 'too_many'>;
  readonly exchange: (
    message: Message,
    of: TokenExchangeRequest,
  ) => Promise<object | TokenExchangeFault>;
  /** Fetches documents by which clients describe themselves. */
  readonly fetchDocument: (url: string) => Promise<Response>;
  /** Counts a document fetch for this request, and returns whether it is allowed. */
  readonly admitsDocument: (message: Message) => Promise<boolean>;
  /** The tenant of a resource that allows self-described clients. */
  readonly documentTenant: (resource: string) => Promise<string | undefined>;
  /**
   * Counts a request that names the client, and returns whether this address may send it. Naming a client proves
   * nothing, so the client's requests from other addresses are not affected.
   */
  readonly admits: (message: Message, clientId: string, to: LimitedRoute) => Promise<boolean>;
  /** Counts a request in which the client has authenticated, from any address, and returns whether it is allowed. */
  readonly admitsProven: (clientId: string, to: LimitedRoute) => Promise<boolean>;
  /** Counts bytes that this request stores in the cache, and returns whether they are allowed. */
  readonly admitsArtifact: (
    message: Message,
    of: { readonly tenantId: string | undefined; readonly bytes: number },
  ) => Promise<boolean>;
  /** Logs why the library refused a request. The library's texts repeat parameters, but never a secret. */
  readonly refused: (message: Message, error: OAuthRefusal) => void;
  readonly clientFailed: (message: Message, failure: ClientFailure) => Promise<void>;
  readonly codeReplayed: (message: Message, code: string) => Promise<void>;
  readonly errorPage: (ctx: Ctx, error: { error: string; error_description?: string }) => void;
  /** Called before the response is sent, with the tenant of its client if one was found. */
  readonly answered: (message: Message, tenantId: string | undefined) => void;
  readonly failed: (error: unknown) => void;
};
/** `error_description` is sent to the client; `error_detail` is only logged. */
export type OAuthRefusal = {
  readonly error?: string;
  readonly error_description?: string;
  readonly error_detail?: string;
};
/** Scopes separated by spaces, which the response repeats. */
export type AccessClaims = { readonly [claim: string]: unknown };
/** The library's token response. Its id_token is replaced by ours. */
export type TokenAnswer = {
  readonly access_token: string;
  readonly id_token?: string;
  readonly scope?: string;
};
export type ExchangedCode = {
  readonly code: string;
  readonly nonce: string | undefined;
  /** OpenID Connect scopes that were granted, separated by spaces. */
  readonly openid: string;
};
/** The pages at which a person decides about a device. The form posts `secret` back with the decision. */
export type DevicePages = {
  /** Whether the request wants a page. Other callers get failures in JSON. */
  readonly isWanted: (ctx: Ctx) => boolean;
  /** `fault` is the library's name of the previous code's error. */
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
  /** The requested scopes, by resource. */
  readonly asked: { readonly [resource: string]: readonly string[] };
};
export type ClaimsRequest = {
  readonly tenantId: string;
  readonly userId: string;
  readonly clientId: string;
  /** The scopes that the request names. */
  readonly scopes: readonly string[];
  /** Whether claims that the person has consented to before are included. */
  readonly showsAll: boolean;
};
/** An application's own claim as the consent page names it. */
export type ShownClaim = { readonly name: string; readonly from: string; readonly scope: string };
export type RefreshRequest = {
  readonly tenantId: string;
  readonly clientId: string;
  readonly token: string;
  readonly scope: string | undefined;
  readonly resource: string | undefined;
  /** The thumbprint of the key whose possession the request proved. */
  readonly thumbprint: string | undefined;
  /** Throws if the request's proof was used before. */
  readonly useProof: () => Promise<void>;
};
export type RefreshFault = { readonly fault: 'invalid_grant' | 'invalid_scope' | 'invalid_target' };
/** The parameters of RFC 8693, 2.1, and the requesting client. */
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
  /** Whether the request has a proof of possession. */
  readonly provesKey: boolean;
};
export type TokenExchangeFault =
  | { readonly fault: 'invalid_client' | 'invalid_grant' | 'invalid_request' | 'invalid_scope' }
  | { readonly fault: 'too_many'; readonly retryAfterSeconds: string };
export type GenuineRefreshToken = {
  readonly sid: string;
  readonly clientId: string;
  readonly userId: string;
  /** The resource for which the token was granted. */
  readonly resource: string | undefined;
};

export const tenantOf = (client: Ctx['oidc']['client']): string =>
  String(client?.['tenant_id'] ?? '');
/** Undefined for a client that no administrator registered. */
export const scopesOf = (client: Ctx['oidc']['client']): readonly string[] | undefined =>
  isDocument(client) ? undefined : String(client?.['allowed_scopes'] ?? '').split(' ');

/** Undefined for a client that acts for users. */
export const machineScopesOf = (client: Ctx['oidc']['client']): readonly string[] | undefined => {
  const scopes = client?.['machine_scopes'];
  return typeof scopes === 'string' ? scopes.split(' ') : undefined;
};

const isDocument = (client: Ctx['oidc']['client']): boolean =>
  client?.['clientIdMetadataDocument'] === true;

type ResourcePorts = Pick<Ports, 'artifacts' | 'documentTenant' | 'refreshToken'>;

/** The tenant of the client. For a self-described client it is the tenant of the requested resource. */
export async function tenantFor(ports: ResourcePorts, ctx: Ctx): Promise<string> {
  const { client } = ctx.oidc;
  return isDocument(client) ? ((await documentTenantOf(ports, ctx)) ?? '') : tenantOf(client);
}

/** Undefined if the request names no resource, or a resource that does not allow self-described clients. */
export async function documentTenantOf(
  ports: ResourcePorts,
  ctx: Ctx,
): Promise<string | undefined> {
  const resource = ctx.oidc.params?.['resource'] ?? (await grantedResource(ports, ctx));
  return typeof resource === 'string' ? ports.documentTenant(resource) : undefined;
}

/** RFC 8707, 2.2: a token request may omit the resource. Then the granted resource applies. */
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
