/**
 * Sessions as this process applied them from identity's events, so that the first vend of a session reads no row. A
 * writer of a session announces the change's position before it answers. Only changes up to the floor may be
 * unannounced. So an event above the floor that is not before the announced position is the last change. Ended sessions
 * are on the revocation list.
 */
import type { approvalEvents, identityEvents } from '@cardea/contracts';
import type { Heard } from '@cardea/event-bus';
import { type Clock, expiringCache } from '@cardea/runtime';
import type { IdentityFactsRequest, SessionFacts } from './fact-rows.ts';

type Source = typeof identityEvents | typeof approvalEvents;
export type AppliedEvent = Heard<Source>;
type Begun = Heard<Source, 'agent_session.started' | 'agent_session.renewed'>;

export interface AppliedSessions {
  apply(events: readonly AppliedEvent[]): void;
  /** Undefined if the row has to be read. */
  find(
    asked: IdentityFactsRequest,
    announced: { readonly floor: bigint; readonly session: bigint },
  ): SessionFacts | undefined;
}

const SESSIONS_MAX = 5_000;
const CACHED_MS = 60_000;

const keyOf = (tenantId: string, sessionId: string): string => `${tenantId} ${sessionId}`;

export function appliedSessions(clock: Pick<Clock, 'monotonicMs'>): AppliedSessions {
  type Applied = { readonly position: bigint; readonly facts: SessionFacts };
  const sessions = expiringCache<string, Applied>(clock, {
    entriesMax: SESSIONS_MAX,
    ttlMs: CACHED_MS,
  });
  const put = ({ tenantId, position: at, data }: Begun): void => {
    const key = keyOf(tenantId, data.id);
    const position = BigInt(at);
    const before = sessions.get(key);
    // The events of a stream that was parked may arrive late.
    if (before !== undefined && before.position > position) return;
    const { agent_id, user_id, epoch } = data;
    const expires_at = new Date(data.expires_at);
    const session = { agent_id, user_id, epoch, expires_at, ended_at: null };
    sessions.set(key, { position, facts: { session, tokenEpoch: epoch } });
  };
  return {
    apply: (events) => {
      for (const event of events) {
        if (event.type === 'agent_session.ended') {
          sessions.delete(keyOf(event.tenantId, event.data.id));
        } else if (event.type === 'tenant.deleted') {
          sessions.clear();
        } else if (isBegun(event)) put(event);
      }
    },
    find: ({ tenantId, sessionId, tokenSessionId }, announced) => {
      if (tokenSessionId !== sessionId) return undefined;
      const found = sessions.get(keyOf(tenantId, sessionId));
      if (found === undefined) return undefined;
      const { position, facts } = found;
      const isLast = position > announced.floor && position >= announced.session;
      return isLast ? facts : undefined;
    },
  };
}

export const concernSessionsAlone = (events: readonly AppliedEvent[]): boolean =>
  events.every((event) => event.type === 'agent_session.ended' || isBegun(event));

const isBegun = (event: AppliedEvent): event is Begun =>
  event.type === 'agent_session.started' || event.type === 'agent_session.renewed';
