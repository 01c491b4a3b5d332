/**
 * A refresh token works once: using it makes its successor. Whoever shows an older one gets nothing, and
 * unless it may have been a lost answer a moment ago, the family ends with it.
 */
import { accept, type Decision, refuse } from '@cardea/event-store';
import {
  factsOf,
  isAlive,
  type Session,
  type SessionEvent,
  type Surroundings,
} from '../session.ts';

export type Refresh = {
  /** Number of the token that was shown; its MAC was checked. */
  readonly seq: number;
  readonly now: Date;
  readonly surroundings: Surroundings;
  readonly mode: 'strict' | 'idempotent';
  readonly leewayMs: number;
  /** How far a refresh moves the end. */
  readonly slidingMs: number;
};

/** Accepted without an event: the current token once more. */
export function refresh(
  command: Refresh,
  session: Session,
): Decision<SessionEvent, 'invalid_refresh_token' | 'refresh_token_rotated'> {
  if (session.status === 'none' || session.kind === 'oauth') return refuse('invalid_refresh_token');
  const { seq, now, surroundings } = command;
  if (seq > session.seq) return refuse('invalid_refresh_token');
  const alive = isAlive(session, surroundings, now);
  const facts = factsOf(session);

  if (seq < session.seq) {
    const sinceMs = now.getTime() - new Date(session.rotated_at).getTime();
    const mayBeLostAnswer = seq === session.seq - 1 && sinceMs <= command.leewayMs;
    if (mayBeLostAnswer && alive && command.mode === 'idempotent') return accept();
    if (mayBeLostAnswer || !alive) return refuse('refresh_token_rotated');
    const at = now.toISOString();
    return refuse('refresh_token_rotated', {
      type: 'SessionRevoked',
      data: { ...facts, revoked_at: at, reason: 'reuse' },
    });
  }
  if (!alive) return refuse('invalid_refresh_token');

  const at = now.toISOString();
  const slid = new Date(now.getTime() + command.slidingMs);
  const end = new Date(session.ends_at);
  return accept({
    type: 'SessionRefreshed',
    data: {
      ...facts,
      seq: session.seq + 1,
      rotated_at: at,
      last_active_at: at,
      expires_at: (slid < end ? slid : end).toISOString(),
    },
  });
}
