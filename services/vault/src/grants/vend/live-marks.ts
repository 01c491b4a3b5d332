/** What ends a credential before its time, looked up in the shared cache at every vend, or at identity. */
import type { AgentPrincipal, Capability, Revocations } from '@cardea/auth';
import { epochKey } from '../../epochs.ts';

export type LiveMarks = {
  /** The key or its agent is revoked. */
  readonly agent: boolean;
  readonly session: boolean;
  readonly user: boolean;
  /** Undefined where there is none, or no cache: then nothing is remembered. */
  readonly epoch: string | undefined;
  readonly cacheAway: boolean;
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
export async function liveMarks(
  { revocations }: { readonly revocations: Pick<Revocations, 'look' | 'stretch'> },
  { agent, sessionId, capability, guessedKey }: Marked,
): Promise<LiveMarks> {
  // What was remembered before the cache was lost does not count after it: changes may not have reached it.
  const stretch = revocations.stretch();
  const { marked, values } = await revocations.look(
    [
      { kind: 'key', id: agent.keyId ?? '' },
      { kind: 'agent', id: agent.id },
      { kind: 'asid', id: sessionId },
      { kind: 'user', id: capability === undefined ? agent.id : capability.subject },
    ],
    [epochKey(agent.tenantId), ...(guessedKey === undefined ? [] : [guessedKey])],
  );
  const [key, owner, session, user] = marked;
  const [epoch, slotGrantId] = values ?? [];
  return {
    agent: key === true || owner === true,
    session: session === true,
    user: user === true,
    epoch: epoch === undefined ? undefined : `${stretch} ${epoch}`,
    cacheAway: values === undefined,
    slotGrantId,
  };
}
