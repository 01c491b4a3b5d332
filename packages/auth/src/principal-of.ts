import type {
  AgentPrincipal,
  Capability,
  ClientPrincipal,
  Principal,
  UserPrincipal,
} from './principal.ts';
import type { VerifiedClaims } from './tokens/token-claims.ts';

/**
 * The principal of an access token. It is an agent whenever the claims name an agent, whatever `sub` is; a machine if
 * its subject is its client; a user otherwise. Undefined for claims that none of our tokens has.
 */
export function principalOf(claims: VerifiedClaims): Principal | undefined {
  const agent = claims['agent_id'] !== undefined || claims['agent_session_id'] !== undefined;
  if (agent) return agentOf(claims);
  return isOfMachine(claims) ? machineOf(claims) : userOf(claims);
}

/** The caller that an access token names, and the thumbprint of the key to which the token is bound. */
export type TokenCaller = {
  readonly principal: Principal | undefined;
  readonly thumbprint: string | undefined;
};

export const callerOf = (claims: VerifiedClaims): TokenCaller => ({
  principal: principalOf(claims),
  thumbprint: boundKeyOf(claims),
});

/** A client that acts for itself is not a user. */
export const isOfMachine = (claims: VerifiedClaims): boolean => claims['client_id'] === claims.sub;

function machineOf(claims: VerifiedClaims): ClientPrincipal | undefined {
  const roles = textsOf(claims['roles']);
  const isOfUser = ['act', 'sid', 'auth_time'].some((claim) => claims[claim] !== undefined);
  if (roles === undefined || isOfUser) return undefined;
  return {
    kind: 'client',
    id: claims.sub,
    tenantId: claims.tid,
    roles,
    scopes: (textOf(claims['scope']) ?? '').split(' ').filter((scope) => scope !== ''),
    appId: claims.sub,
    issuedAt: claims.iat,
  };
}

function agentOf(claims: VerifiedClaims): AgentPrincipal | undefined {
  const id = textOf(claims['agent_id']);
  const agentSessionId = textOf(claims['agent_session_id']);
  if (id === null || agentSessionId === null || subjectOf(claims['act']) !== id) return undefined;
  return {
    kind: 'agent',
    id,
    tenantId: claims.tid,
    via: 'token',
    userId: claims.sub === id ? null : claims.sub,
    agentSessionId,
    keyId: null,
    appId: textOf(claims['app_id']),
  };
}

function userOf(claims: VerifiedClaims): UserPrincipal | undefined {
  const clientId = textOf(claims['client_id']);
  const impersonatedBy = subjectOf(claims['act']);
  if (claims['act'] !== undefined && impersonatedBy === null) return undefined;
  const boundKey = boundKeyOf(claims);
  return {
    kind: 'user',
    id: claims.sub,
    tenantId: claims.tid,
    organizationId: textOf(claims['org_id']),
    email: textOf(claims['email']),
    roles: textsOf(claims['roles']) ?? [],
    sessionId: textOf(claims['sid']),
    authTime: typeof claims['auth_time'] === 'number' ? claims['auth_time'] : null,
    appId: textOf(claims['app_id']),
    clientId,
    ...(clientId === null ? {} : { scopes: (textOf(claims['scope']) ?? '').split(' ') }),
    ...(boundKey === undefined ? {} : { boundKey }),
    impersonatedBy,
    issuedAt: claims.iat,
    expiresAt: claims.exp,
  };
}

/** The thumbprint of the key to which a token is bound (RFC 9449, 6.1). */
export function boundKeyOf({ cnf }: VerifiedClaims): string | undefined {
  if (cnf === undefined) return undefined;
  // A binding that cannot be parsed matches no proof.
  return textOf((cnf as { jkt?: unknown } | null)?.jkt) ?? '';
}

/** Undefined for claims that none of our capability tokens has. */
export function capabilityOf(claims: VerifiedClaims): Capability | undefined {
  const agentId = subjectOf(claims['act']);
  const agentSessionId = textOf(claims['asid']);
  const keyId = textOf((claims['cnf'] as { akid?: unknown } | undefined)?.akid);
  const grants = grantsOf(claims['cap']);
  const epoch = claims['ver'];
  if (agentId === null || agentSessionId === null || keyId === null) return undefined;
  if (grants === undefined || typeof epoch !== 'number' || typeof claims['nbf'] !== 'number') {
    return undefined;
  }
  return {
    tenantId: claims.tid,
    agentId,
    agentSessionId,
    subject: claims.sub,
    grants,
    keyId,
    epoch,
    purpose: textOf(claims['purpose']),
    issuedAt: claims.iat,
    expiresAt: claims.exp,
    tokenId: claims.jti,
  };
}

function grantsOf(cap: unknown): Capability['grants'] | undefined {
  if (!Array.isArray(cap)) return undefined;
  const grants = cap.map((each: { s?: unknown; f?: unknown } | null) => ({
    service: textOf(each?.s),
    fields: textsOf(each?.f),
  }));
  const whole = grants.every(({ service, fields }) => service !== null && fields !== undefined);
  return whole ? (grants as Capability['grants']) : undefined;
}

const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null;

const textsOf = (value: unknown): readonly string[] | undefined =>
  Array.isArray(value) && value.every((each) => typeof each === 'string') ? value : undefined;

const subjectOf = (act: unknown): string | null =>
  textOf((act as { sub?: unknown } | null | undefined)?.sub);
