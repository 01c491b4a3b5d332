/**
 * Caches identity's facts for a few seconds. Facts of sessions are separate from those of agents and their users,
 * because most sessions vend once and an agent has many sessions.
 */
import type { Clock } from '@cardea/runtime';
import { epochCache } from '../epochs.ts';
import { type AppliedEvent, appliedSessions, concernSessionsAlone } from './applied-sessions.ts';
import type { AgentFacts, Facts, IdentityFactsRequest, SessionFacts } from './fact-rows.ts';

/** The positions of changes at identity in the shared cache; 0 if none was announced. */
export type KnownChanges = {
  /** Replaced at each change that narrows authority. Entries cached under another epoch are void. */
  readonly epoch: string;
  readonly floor: bigint;
  readonly agent: bigint;
  readonly session: bigint;
};

export interface FactsCache {
  find(asked: IdentityFactsRequest, changes: KnownChanges): Facts | undefined;
  /** Returns the cached facts, or those that `load` returns, which are cached. */
  loaded(
    asked: IdentityFactsRequest,
    changes: KnownChanges,
    load: () => Promise<Facts>,
  ): Promise<Facts>;
  /** Drops what these events may have changed. */
  applied(events: readonly AppliedEvent[]): void;
}

export function factsCache(clock: Pick<Clock, 'monotonicMs'>): FactsCache {
  const fromEvents = appliedSessions(clock);
  const sessions = epochCache<SessionFacts>(clock);
  const agents = epochCache<AgentFacts>(clock);
  return {
    find: (asked, changes) => {
      const { ofSession, ofAgent } = placesOf(asked, changes);
      const session = fromEvents.find(asked, changes) ?? sessions.get(...ofSession);
      const agent = agents.get(...ofAgent);
      if (session === undefined || agent === undefined) return undefined;
      return { ...session, ...agent };
    },
    loaded: async (asked, changes, load) => {
      const startMs = clock.monotonicMs();
      const facts = await load();
      const tookMs = clock.monotonicMs() - startMs;
      const { session, tokenEpoch, agent, userStatus } = facts;
      const { ofSession, ofAgent } = placesOf(asked, changes);
      sessions.put(...ofSession, { session, tokenEpoch }, tookMs);
      agents.put(...ofAgent, { agent, userStatus }, tookMs);
      return facts;
    },
    applied: (events) => {
      fromEvents.apply(events);
      sessions.clear();
      if (!concernSessionsAlone(events)) agents.clear();
    },
  };
}

/** The requested facts, and the positions that must not have changed since. */
function placesOf(asked: IdentityFactsRequest, changes: KnownChanges) {
  const { tenantId, sessionId, tokenSessionId, agentId, userId } = asked;
  const { epoch, floor, agent, session } = changes;
  return {
    ofSession: [
      JSON.stringify([tenantId, sessionId, tokenSessionId]),
      `${epoch} ${floor} ${session}`,
    ],
    ofAgent: [JSON.stringify([tenantId, agentId, userId]), `${epoch} ${floor} ${agent}`],
  } as const;
}
