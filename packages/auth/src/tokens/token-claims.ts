/**
 * The claims of each class of token (`docs/design/tokens.md`, Token classes). Identity issues them, every
 * service reads them; `typ` and audience distinguish the classes, so that no token of one kind serves as
 * another.
 */
export const TOKEN_CLASSES = {
  /** Login, OAuth, impersonation and agent access tokens for Cardea's own API. */
  access: { typ: 'at+jwt', audience: (issuer: string) => `${issuer}/api` },
  capability: { typ: 'agent-cap+jwt', audience: (issuer: string) => `${issuer}/vault` },
  mfa: { typ: 'mfa+jwt', audience: (issuer: string) => `${issuer}/mfa` },
} as const;
export type TokenClass = keyof typeof TOKEN_CLASSES;

/** Claims of every token. Times are Unix seconds. */
export type CommonClaims = {
  readonly iss: string;
  readonly sub: string;
  readonly aud: string | readonly string[];
  readonly iat: number;
  readonly exp: number;
  readonly jti: string;
  readonly tid: string;
  /** Equals `tid`, under the name that REST clients use. */
  readonly tenant_id: string;
};

export type LoginClaims = CommonClaims & {
  readonly org_id: string;
  readonly email: string;
  readonly roles: readonly string[];
  readonly auth_time: number;
  readonly amr: readonly string[];
  readonly app_id?: string;
  readonly sid?: string;
};

export type OAuthClaims = CommonClaims & {
  readonly client_id: string;
  readonly scope: string;
  readonly sid?: string;
  readonly auth_time: number;
  readonly amr: readonly string[];
  readonly email?: string;
  readonly roles?: readonly string[];
  /** The key to which the token is bound (RFC 9449, 6.1). */
  readonly cnf?: { readonly jkt: string };
};

/** An admin who impersonates a user: `act` without an agent. */
export type ImpersonationClaims = CommonClaims & {
  readonly act: { readonly sub: string };
  readonly email: string;
  readonly roles: readonly string[];
};

/** `sub` is the user on whose behalf the agent acts, else the agent. `act.sub` is always the agent. */
export type AgentClaims = CommonClaims & {
  readonly act: { readonly sub: string };
  readonly agent_id: string;
  readonly agent_session_id: string;
  readonly app_id?: string;
  readonly roles: readonly [];
};

export type CapabilityClaims = CommonClaims & {
  readonly nbf: number;
  readonly asid: string;
  readonly act: { readonly sub: string };
  /** Services and their fields; never whether someone approved. */
  readonly cap: readonly { readonly s: string; readonly f: readonly string[] }[];
  /** The agent key with which the session was opened. */
  readonly cnf: { readonly akid: string };
  /** The epoch of the agent's grants. */
  readonly ver: number;
  readonly purpose?: string;
  readonly app_id?: string;
  /** The token that this one narrows. */
  readonly pjti?: string;
};

/** Verified claims. The common ones are guaranteed, others are not. */
export type VerifiedClaims = CommonClaims & { readonly [claim: string]: unknown };
