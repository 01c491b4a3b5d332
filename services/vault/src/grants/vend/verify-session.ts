/**
 * Checks 1 to 6 of a vend, which need no body, in this order: the key is live, the token is this agent's, the session
 * in the path is active and is the token's, and the session is within its rate.
 */
import type { AgentPrincipal, Capability } from '@cardea/auth';
import type { Request } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import type { Epochs } from '../../epochs.ts';
import type { Facts, IdentityFactsRequest } from '../../identity-facts/fact-rows.ts';
import type { KnownChanges } from '../../identity-facts/facts-cache.ts';
import type { IdentityFacts } from '../../identity-facts/identity-facts.ts';
import { REREAD_AFTER_MS } from '../../identity-facts/identity-facts.ts';
import { liveRevocations } from './live-revocations.ts';

type SessionDependencies = Pick<ServiceDependencies, 'authenticator' | 'revocations' | 'clock'> & {
  readonly epochs: Epochs;
  readonly facts: IdentityFacts;
  /** Returns false if the session exceeds its vend rate. */
  readonly sessionRate: (session: string) => boolean;
};

export type VerifiedSession = {
  readonly capability: Capability;
  readonly factsRequest: IdentityFactsRequest;
  readonly facts: Facts;
  readonly userRevoked: boolean;
  readonly epoch: string | undefined;
  readonly changes: KnownChanges | undefined;
  /** The session's end, from its row or else from the token. */
  readonly sessionEndsAt: Date;
  readonly grantsEpoch: string | undefined;
};
export type RefusedSession = {
  readonly refused:
    | 'INVALID_AGENT_KEY'
    | 'INVALID_CAPABILITY_TOKEN'
    | 'NOT_FOUND'
    | 'CREDENTIAL_SCOPE_DENIED'
    | 'RATE_LIMITED';
  /** The session that a valid token names. */
  readonly sessionId: string | null;
};

export type VendRequest<Body> = Request<{ readonly id: string }, unknown, Body, AgentPrincipal>;

const MS = 1_000;

export async function verifySession(
  vault: SessionDependencies,
  request: VendRequest<undefined>,
): Promise<VerifiedSession | RefusedSession> {
  const { tenantId, params, principal: agent } = request;
  const token = request.headers['x-service-token'];
  const verified =
    token === undefined
      ? ({ bad: 'invalid' } as const)
      : await vault.authenticator.capability(token);
  const capability = 'ok' in verified ? verified.ok : verified.claims;
  const revoked = await liveRevocations(vault, { agent, sessionId: params.id, capability });
  if (revoked.agent) return { refused: 'INVALID_AGENT_KEY', sessionId: null };
  if (revoked.epoch === undefined && revoked.changes !== undefined)
    await vault.epochs.begin(tenantId);
  if (
    capability === undefined ||
    capability.tenantId !== tenantId ||
    capability.agentId !== agent.id ||
    capability.keyId !== agent.keyId
  ) {
    return { refused: 'INVALID_CAPABILITY_TOKEN', sessionId: null };
  }
  const sessionId = capability.agentSessionId;
  const factsRequest: IdentityFactsRequest = {
    tenantId,
    sessionId: params.id,
    tokenSessionId: sessionId,
    agentId: agent.id,
    userId: userOf(capability),
  };
  const isOwn = 'ok' in verified && sessionId === params.id;
  const facts = await factsOfSession(vault, factsRequest, { isOwn, changes: revoked.changes });
  if (facts.tokenEpoch !== undefined && capability.epoch < facts.tokenEpoch) {
    return { refused: 'INVALID_CAPABILITY_TOKEN', sessionId };
  }
  const now = vault.clock.now();
  if (revoked.session || sessionStatusOf(facts, isOwn, now) !== 'active') {
    return { refused: 'NOT_FOUND', sessionId };
  }
  if (!('ok' in verified)) return { refused: 'INVALID_CAPABILITY_TOKEN', sessionId };
  if (!isOwn) return { refused: 'CREDENTIAL_SCOPE_DENIED', sessionId };
  if (!vault.sessionRate(`${tenantId} ${sessionId}`)) {
    return { refused: 'RATE_LIMITED', sessionId };
  }
  const sessionEndsAt = facts.session?.expires_at ?? new Date(capability.expiresAt * MS);
  const { user: userRevoked, epoch, grantsEpoch, changes } = revoked;
  const of = { capability, factsRequest, facts, userRevoked };
  return { ...of, epoch, grantsEpoch, changes, sessionEndsAt };
}

/** Null if the agent acts for itself. */
export const userOf = ({ subject, agentId }: Capability): string | null =>
  subject === agentId ? null : subject;

type SessionStatus = 'active' | 'ended' | 'late';

/** A valid token proves its session unless the row states that it ended. A missing row proves nothing. */
function sessionStatusOf({ session }: Facts, isOwn: boolean, now: Date): SessionStatus {
  if (session === undefined) return isOwn ? 'active' : 'late';
  if (session.ended_at !== null) return 'ended';
  return session.expires_at > now ? 'active' : 'late';
}

/** A refusal that depends only on a missing or expired row is confirmed by reading again, as the row may lag. */
async function factsOfSession(
  vault: SessionDependencies,
  factsRequest: IdentityFactsRequest,
  { isOwn, changes }: { readonly isOwn: boolean; readonly changes: KnownChanges | undefined },
): Promise<Facts> {
  let facts = await vault.facts.read(factsRequest, changes);
  for (const pauseMs of REREAD_AFTER_MS) {
    if (sessionStatusOf(facts, isOwn, vault.clock.now()) !== 'late') return facts;
    await vault.clock.sleep(pauseMs);
    facts = await vault.facts.read(factsRequest, changes, true);
  }
  return facts;
}
