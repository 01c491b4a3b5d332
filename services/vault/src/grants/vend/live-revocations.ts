/** Revocations of credentials, which are looked up at every vend in the shared cache, or at identity. */
import {
  type AgentPrincipal,
  authorityKey,
  type Capability,
  CHANGES_FLOOR,
  changedKey,
  type Revocations,
} from '@cardea/auth';
import { epochKey } from '../../epochs.ts';
import type { KnownChanges } from '../../identity-facts/facts-cache.ts';
import { sessionGrantsKey } from '../grant-key.ts';

export type LiveRevocations = {
  /** Whether the key or its agent is revoked. */
  readonly agent: boolean;
  readonly session: boolean;
  readonly user: boolean;
  /** Undefined if there is none or the shared cache is unreachable. Nothing is cached then. */
  readonly epoch: string | undefined;
  /** Undefined if the shared cache is unreachable or may have missed changes. */
  readonly changes: KnownChanges | undefined;
  /** The epoch for which the session's grants may be cached. Undefined if no grant was issued for minutes. */
  readonly grantsEpoch: string | undefined;
};

export type RevocationLookUp = {
  readonly agent: AgentPrincipal;
  readonly sessionId: string;
  readonly capability: Capability | undefined;
};

/** Reads the revocations in one round trip to the cache, or else from identity. Throws if neither can be reached. */
export async function liveRevocations(
  { revocations }: { readonly revocations: Pick<Revocations, 'look' | 'subscriptionEpoch'> },
  { agent, sessionId, capability }: RevocationLookUp,
): Promise<LiveRevocations> {
  // Values that were cached before the connection was lost are not used afterwards, because changes may have been
  // missed.
  const subscriptionEpoch = revocations.subscriptionEpoch();
  const { revoked, values } = await revocations.look(
    [
      { kind: 'key', id: agent.keyId ?? '' },
      { kind: 'agent', id: agent.id },
      { kind: 'asid', id: sessionId },
      { kind: 'user', id: capability === undefined ? agent.id : capability.subject },
    ],
    [
      epochKey(agent.tenantId),
      authorityKey(agent.tenantId),
      CHANGES_FLOOR,
      changedKey('agent', agent.id),
      changedKey('agent_session', sessionId),
      sessionGrantsKey(sessionId),
    ],
  );
  const [key, owner, session, user] = revoked;
  const [epoch, authority, floor, agentChanged, sessionChanged, grants] = values ?? [];
  const ofTenant = epoch === undefined ? undefined : `${subscriptionEpoch} ${epoch}`;
  return {
    agent: key === true || owner === true,
    session: session === true,
    user: user === true,
    epoch: ofTenant,
    changes:
      values === undefined
        ? undefined
        : {
            epoch: `${subscriptionEpoch} ${authority}`,
            floor: BigInt(floor ?? 0),
            agent: BigInt(agentChanged ?? 0),
            session: BigInt(sessionChanged ?? 0),
          },
    grantsEpoch:
      ofTenant === undefined || grants === undefined ? undefined : `${ofTenant} ${grants}`,
  };
}
