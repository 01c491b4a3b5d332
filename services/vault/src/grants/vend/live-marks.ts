/** What ends a credential before its time, looked up in the shared cache at every vend, or at identity. */
import type { AgentPrincipal, Capability } from '@cardea/auth';
import { type Cache, CacheUnavailable } from '@cardea/runtime';
import type { Peers } from '@cardea/service';
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
  /** The agent key as it was sent. */
  readonly credential: string;
  /** Key of the slot that the session is likely to ask for, so that one trip fetches all. */
  readonly guessedKey: string | undefined;
};

/** Throws when both cache and identity are away. */
export async function liveMarks(
  { cache, peers }: { readonly cache: Cache; readonly peers: Pick<Peers, 'introspect'> },
  { agent, sessionId, capability, credential, guessedKey }: Marked,
): Promise<LiveMarks> {
  const user = capability === undefined ? agent.id : capability.subject;
  try {
    const [key, owner, session, person, epoch, slotGrantId] = await cache.getMany([
      `rev:key:${agent.keyId ?? ''}`,
      `rev:agent:${agent.id}`,
      `rev:asid:${sessionId}`,
      `rev:user:${user}`,
      epochKey(agent.tenantId),
      ...(guessedKey === undefined ? [] : [guessedKey]),
    ]);
    return {
      agent: key !== undefined || owner !== undefined,
      session: session !== undefined,
      user: person !== undefined,
      epoch,
      cacheAway: false,
      slotGrantId,
    };
  } catch (error) {
    if (!(error instanceof CacheUnavailable)) throw error;
    const known = await peers.introspect(credential);
    const agentGone = known === undefined || known.kind !== 'agent' || known.id !== agent.id;
    return {
      agent: agentGone,
      session: false,
      user: false,
      epoch: undefined,
      cacheAway: true,
      slotGrantId: undefined,
    };
  }
}
