/** What ends a credential before its time, looked up in the shared cache at every vend, or at identity. */
import {
  type AgentPrincipal,
  authorityKey,
  type Capability,
  CHANGES_FLOOR,
  changedKey,
  type Revocations,
} from '@cardea/auth';
import { epochKey } from '../../epochs.ts';
import type { KnownChanges } from '../../identity-facts/identity-facts.ts';

export type LiveRevocations = {
  /** The key or its agent is revoked. */
  readonly agent: boolean;
  readonly session: boolean;
  readonly user: boolean;
  /** Undefined where there is none, or no cache: then nothing is remembered. */
  readonly epoch: string | undefined;
  /** Undefined: the cache is away, or cannot be believed. */
  readonly changes: KnownChanges | undefined;
  /** What the cache names as the grant of the guessed slot. */
  readonly slotGrantId: string | undefined;
};

export type Marked = {
  readonly agent: AgentPrincipal;
  readonly sessionId: string;
  readonly capability: Capability | undefined;
  /** Key of the slot that the session is likely to ask for, so that one trip fetches all. */
  readonly guessedKey: string | undefined;
};

/** One trip to the cache, else to identity. Throws when both are away. */
export async function liveRevocations(
  { revocations }: { readonly revocations: Pick<Revocations, 'look' | 'stretch'> },
  { agent, sessionId, capability, guessedKey }: Marked,
): Promise<LiveRevocations> {
  // What was remembered before the cache was lost does not count after it: changes may not have reached it.
  const stretch = revocations.stretch();
  const { marked, values } = await revocations.look(
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
      ...(guessedKey === undefined ? [] : [guessedKey]),
    ],
  );
  const [key, owner, session, user] = marked;
  const [epoch, authority, floor, agentChanged, sessionChanged, slotGrantId] = values ?? [];
  return {
    agent: key === true || owner === true,
    session: session === true,
    user: user === true,
    epoch: epoch === undefined ? undefined : `${stretch} ${epoch}`,
    changes:
      values === undefined
        ? undefined
        : {
            epoch: `${stretch} ${authority}`,
            floor: BigInt(floor ?? 0),
            agent: BigInt(agentChanged ?? 0),
            session: BigInt(sessionChanged ?? 0),
          },
    slotGrantId,
  };
}
