import type { FactChange } from './fact-changes.ts';

/** The authenticated caller. Only a `user` is a person acting for themselves. */
export type Principal = UserPrincipal | AgentPrincipal | ApiKeyPrincipal | ClientPrincipal;

export type UserPrincipal = {
  readonly kind: 'user';
  readonly id: string;
  readonly tenantId: string;
  readonly organizationId: string | null;
  readonly email: string | null;
  readonly roles: readonly string[];
  /** The `sid`. Null for tokens without a session. */
  readonly sessionId: string | null;
  /** The time of the last strong sign-in, in Unix seconds. Null if none is known, or if its session has ended. */
  readonly authTime: number | null;
  readonly appId: string | null;
  /** The application that got the token; null for the user's own sign-in. */
  readonly clientId: string | null;
  /** The scopes that the user granted to that application. It can do nothing more in the user's name. */
  readonly scopes?: readonly string[];
  /** Thumbprint of the key to which the token is bound. */
  readonly boundKey?: string;
  /** The admin who impersonates the user. Such a caller may not decide approvals. */
  readonly impersonatedBy: string | null;
  /** Unix seconds. */
  readonly issuedAt: number;
  readonly expiresAt: number;
};

/**
 * The principal of an agent key, or of a token with `act`, an agent id or an agent session. The `sub` of such a token
 * does not matter.
 */
export type AgentPrincipal = {
  readonly kind: 'agent';
  /** The agent's id, never the user's. */
  readonly id: string;
  readonly tenantId: string;
  readonly via: 'token' | 'key';
  /** The user on whose behalf the agent acts. */
  readonly userId: string | null;
  readonly agentSessionId: string | null;
  /** Agent key id; null for tokens. */
  readonly keyId: string | null;
  readonly appId: string | null;
};

/** An `svc_` key. */
export type ApiKeyPrincipal = {
  readonly kind: 'api_key';
  readonly id: string;
  readonly tenantId: string;
  readonly scopes: readonly string[];
  readonly environment: 'live' | 'test';
  readonly appId: string | null;
};

/** A machine: an application that calls in its own name. It is neither a user nor an agent. */
export type ClientPrincipal = {
  readonly kind: 'client';
  /** Its client id. */
  readonly id: string;
  readonly tenantId: string;
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
  /** The machine's own id, because it acts through no other application. */
  readonly appId: string;
  /** Unix seconds. */
  readonly issuedAt: number;
};

/** The rights of a session's capability token (`docs/design/tokens.md`, Token classes). */
export type Capability = {
  readonly tenantId: string;
  readonly agentId: string;
  readonly agentSessionId: string;
  /** The user for whom the agent acts, or else the agent. */
  readonly subject: string;
  readonly grants: readonly { readonly service: string; readonly fields: readonly string[] }[];
  /** The agent key that the token is bound to. */
  readonly keyId: string;
  readonly epoch: number;
  readonly purpose: string | null;
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly tokenId: string;
};

/** Identity's response about an opaque credential (RFC 7662); undefined if it is inactive. */
export type IntrospectedKey =
  | (ApiKeyPrincipal & Standing)
  | (AgentPrincipal & Standing & { readonly allowedCidrs: readonly string[] });
type Standing = {
  readonly expiresAt: number | null;
  /**
   * If a revocation of kind `key` names this stamp, the secret was rotated. The key itself stays valid, but the cached
   * response is void, so identity is asked again.
   */
  readonly stamp?: string;
};

/** Too many keys from this caller's address were wrong. */
export type TooManyMisses = {
  readonly kind: 'too_many_misses';
  readonly retryAfterSeconds: number;
};

/** The parts of a credential of the scheme `DPoP`: the proof, and the request that the proof must be for. */
export type PossessionProof = {
  readonly proof: string;
  readonly method: string;
  readonly path: string;
};

/**
 * The token is bound to a key without a matching proof in the request, or the request has a proof without a bound
 * token.
 */
export type Unproven = {
  readonly kind: 'unproven';
  /** The error codes of RFC 9449, 7.1. */
  readonly error: 'invalid_token' | 'invalid_dpop_proof';
};

/** Counts refused keys by address. */
export type KeyMisses = {
  /** Charges an address before a key is looked up. The charge lasts until its window ends unless it is given back. */
  readonly take: (ip: string) => Promise<Taken>;
};
type Taken =
  | {
      readonly allowed: true;
      readonly giveBack: () => Promise<void>;
      readonly keep: () => Promise<void>;
    }
  | { readonly allowed: false; readonly retryAfterSeconds: number };

export type Authentication = Principal | TooManyMisses | Unproven | undefined;

/** Determines the principal of presented credentials. Never throws for a bad credential. */
export interface Authenticator {
  /**
   * Authenticates by an `Authorization` header: an access token, an `svc_` key or an `agk_` key, with a `possession` if
   * the scheme is `DPoP`. Returns `undefined` if it is missing, malformed, forged, expired or revoked. `ip` is compared
   * with an agent key's CIDRs, and refused keys are counted by it. A credential that is repeated on a `connection` is
   * not hashed again. Throws CacheUnavailable if a proof cannot be compared with earlier ones. Returns a promise only
   * if something has to be awaited.
   */
  authenticate(
    credential: string,
    ip: string,
    connection?: object,
    possession?: PossessionProof,
  ): Authentication | Promise<Authentication>;
  /**
   * Checks the caller again, live, for actions that require a role. Returns `undefined` if the token is no longer
   * valid. If only its session has ended, the time of sign-in is removed. Throws if this cannot be determined.
   */
  confirm(principal: Principal): Promise<Principal | undefined>;
  /** Verifies a capability token. Vending needs to distinguish `expired` from `invalid`. */
  capability(
    token: string,
  ): Promise<
    | { readonly ok: Capability }
    | { readonly bad: 'invalid' | 'expired'; readonly claims?: Capability }
  >;
}

/**
 * The kinds of things that can be revoked before their expiry (`rev:<kind>:<id>`), in the shared cache and mirrored in
 * every process. `rank` ends access tokens of a user or machine that were issued before a time. `signin` ends only the
 * sign-in of such a token without a session. `tenant` ends everything of a tenant.
 */
export type RevocationKind =
  | 'sid'
  | 'user'
  /** An API key, an agent key, or an application. */
  | 'key'
  | 'agent'
  | 'asid'
  | 'rank'
  | 'signin'
  | 'tenant'
  /** A consent in one epoch: `<id>.<epoch>`. */
  | 'consent';
export type Revocation = {
  readonly kind: RevocationKind;
  readonly id: string;
  /**
   * Unix seconds, for the kinds of {@link isTimed}: tokens issued before this time have ended. In a query it is the
   * time at which the token was issued.
   */
  readonly at?: number;
};
/** True for a kind whose entry applies to tokens that were issued before its time. */
export const isTimed = (kind: RevocationKind): boolean => kind === 'rank' || kind === 'signin';
/** All revocations that are still relevant: those of the last JWT_EXPIRY + 1 h. */
export type RefillRevocations = () => Promise<readonly Revocation[]>;
export interface Revocations {
  /**
   * When it resolves, the revocation is in force everywhere: it is in the cache and published to all processes. In
   * processes that keep the list filled, the entry may be a pending write; other processes then know that an entry is
   * missing and ask identity. Throws CacheUnavailable if they cannot be notified.
   */
  add(kind: RevocationKind, ids: readonly string[], at?: number): Promise<void>;
  remove(kind: RevocationKind, ids: readonly string[]): Promise<void>;
  /**
   * Announces the change of a fact that others cache. When it resolves, the change is in the cache, or a pending write
   * like a revocation.
   */
  changed(change: FactChange): Promise<void>;
  /** Throws CacheUnavailable while an earlier change of this process may not be in force everywhere. */
  settled(): Promise<void>;
  /**
   * Reads this process's copy, without a round trip. True is always right. False is right while {@link
   * subscriptionEpoch} is a number.
   */
  isRevoked(kind: RevocationKind, id: string, at?: number): boolean;
  /**
   * The number of the current subscription epoch. Undefined while revocations may have been missed. Values that were
   * cached in another epoch must not be used.
   */
  subscriptionEpoch(): number | undefined;
  /** Reads live from the shared cache, otherwise from identity. Throws when neither answers. */
  look(list: readonly Revocation[], keys?: readonly string[]): Promise<Looked>;
  /**
   * Identity calls this before its first request, with a function that reads all revocations from its tables. From then
   * on, the list is written again whenever the cache has lost it. Resolves when the list is written, or when the cache
   * is unavailable.
   */
  keepFilled(all: RefillRevocations): Promise<void>;
}
export type Looked = {
  readonly revoked: readonly boolean[];
  /** The values of the requested keys. Undefined if the cache is not trusted. */
  readonly values: readonly (string | undefined)[] | undefined;
};
/**
 * Returns which of these are revoked, ended, disabled or deleted, from identity's streams. Throws when
 * identity cannot be reached.
 */
export type Ended = (list: readonly Revocation[]) => Promise<readonly boolean[]>;
