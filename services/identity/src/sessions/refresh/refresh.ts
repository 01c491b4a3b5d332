/**
 * A refresh token works once: using it issues its successor. An older one is refused and ends the family,
 * unless the client that has just used it may have lost the answer.
 */
import type { Sealed } from '@cardea/crypto';
import { accept, type Decision, refuse } from '@cardea/event-store';
import type { RefreshMode } from '../../workspaces/workspaces.module.ts';
import {
  factsOf,
  isAlive,
  type Session,
  type SessionEvent,
  type ValidityContext,
} from '../session.ts';

export type Refresh = {
  /** Of the endpoint that was asked: each refreshes its own kind of sessions, an application its own. */
  readonly by: RefreshedBy;
  /** Number of the presented token, whose MAC was verified. */
  readonly seq: number;
  readonly now: Date;
  readonly validity: ValidityContext;
  readonly mode: RefreshMode;
  readonly leewayMs: number;
  /** Network and user agent of the caller. */
  readonly caller: Sealed;
  /** Whether the caller made the refresh of this number, as far as that was looked up. */
  readonly lastRefresh: { readonly seq: number; readonly isCallers: boolean } | undefined;
  /** By how much a refresh extends the session. */
  readonly slidingMs: number;
};

export type RefreshedBy =
  | { readonly kind: 'login' }
  | { readonly kind: 'oauth'; readonly clientId: string };

/** A repeat within the leeway is recorded at most this often. */
const REPEAT_RECORDED_EVERY_MS = 60_000;

type Known = Extract<Session, { status: 'known' }>;
type Refused = 'invalid_refresh_token' | 'refresh_token_rotated';

/**
 * Accepted with an unchanged number: the current token is issued again. `not_looked_up`: another refresh
 * came in between, and its caller must be looked up before this can be decided.
 */
export function refresh(
  command: Refresh,
  session: Session,
): Decision<SessionEvent, Refused | 'not_looked_up'> {
  if (session.status === 'none' || !isBy(session, command.by))
    return refuse('invalid_refresh_token');
  const { seq, now, validity } = command;
  if (seq > session.seq) return refuse('invalid_refresh_token');
  const alive = isAlive(session, validity, now);
  if (seq < session.seq)
    return alive ? replayed(command, session) : refuse('refresh_token_rotated');
  if (!alive) return refuse('invalid_refresh_token');

  const at = now.toISOString();
  const slid = new Date(now.getTime() + command.slidingMs);
  const end = new Date(session.ends_at);
  return accept({
    type: 'SessionRefreshed',
    data: {
      ...factsOf(session),
      seq: session.seq + 1,
      rotated_at: at,
      refreshed_by: { seq: session.seq + 1, caller: command.caller },
      last_active_at: at,
      expires_at: (slid < end ? slid : end).toISOString(),
    },
  });
}

const isBy = (session: Known, by: RefreshedBy): boolean =>
  session.kind === by.kind && (by.kind === 'login' || session.client_id === by.clientId);

/** Within the leeway the client that used the token may have lost the answer; no other client can have. */
function replayed(
  { seq, now, mode, leewayMs, lastRefresh }: Refresh,
  session: Known,
): Decision<SessionEvent, 'refresh_token_rotated' | 'not_looked_up'> {
  const sinceMs = now.getTime() - new Date(session.rotated_at).getTime();
  const isForgivable = mode !== 'strict' && seq === session.seq - 1 && sinceMs <= leewayMs;
  if (isForgivable && lastRefresh?.seq !== session.seq) return refuse('not_looked_up');
  if (!isForgivable || !lastRefresh?.isCallers) {
    const revoked = {
      ...factsOf(session),
      revoked_at: now.toISOString(),
      reason: 'reuse',
    } as const;
    return refuse('refresh_token_rotated', { type: 'SessionRevoked', data: revoked });
  }
  const recorded = repeatRecorded(session, now);
  return mode === 'idempotent' ? accept(...recorded) : refuse('refresh_token_rotated', ...recorded);
}

function repeatRecorded(session: Known, now: Date): readonly SessionEvent[] {
  const before = session.repeated_at === undefined ? 0 : new Date(session.repeated_at).getTime();
  if (now.getTime() - before < REPEAT_RECORDED_EVERY_MS) return [];
  const data = { ...factsOf(session), repeated_at: now.toISOString() };
  return [{ type: 'SessionRefreshRepeated', data }];
}
