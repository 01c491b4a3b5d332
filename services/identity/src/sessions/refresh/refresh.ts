/**
 * A refresh token works once: its use issues its successor. A used token is refused and ends the family, unless it was
 * used a moment ago, because the client may have lost the response.
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
  /**
   * The endpoint that was called. Each endpoint refreshes its own kind of sessions, and each application only its own.
   */
  readonly by: RefreshedBy;
  /** The number of the presented token, whose MAC was verified. */
  readonly seq: number;
  readonly now: Date;
  readonly validity: ValidityContext;
  readonly mode: RefreshMode;
  readonly leewayMs: number;
  /** The caller's network and user agent, encrypted. */
  readonly caller: Sealed;
  /** Whether the caller made the refresh of this number. Undefined if that was not looked up. */
  readonly lastRefresh: { readonly seq: number; readonly isCallers: boolean } | undefined;
  /** The time by which a refresh extends the session. */
  readonly slidingMs: number;
};

export type RefreshedBy =
  | { readonly kind: 'login' }
  | {
      readonly kind: 'oauth';
      readonly clientId: string;
      /** The thumbprint of the key whose possession the request proved. */
      readonly thumbprint: string | undefined;
      /** Whether the next refresh token is bound to this key. */
      readonly binds: boolean;
    };

/** A repeat within the leeway is recorded at most this often. */
const REPEAT_RECORDED_EVERY_MS = 60_000;

type Known = Extract<Session, { status: 'known' }>;
type Refused = 'invalid_refresh_token' | 'refresh_token_rotated';

/**
 * Decides a refresh. With an unchanged number the current token is issued again. `not_looked_up`: another refresh came
 * in between, and its caller must be looked up before this can be decided.
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
      ...boundBy(command.by),
      seq: session.seq + 1,
      rotated_at: at,
      refreshed_by: { seq: session.seq + 1, caller: command.caller },
      last_active_at: at,
      expires_at: (slid < end ? slid : end).toISOString(),
    },
  });
}

const isBy = (session: Known, by: RefreshedBy): boolean =>
  session.kind === by.kind && (by.kind === 'login' || isByClient(session, by));

type ByClient = Extract<RefreshedBy, { kind: 'oauth' }>;

/** Without the key a bound token is useless, so its use ends nothing. */
const isByClient = ({ client_id, jkt }: Known, { clientId, thumbprint }: ByClient): boolean =>
  client_id === clientId && (jkt === undefined || jkt === thumbprint);

const boundBy = (by: RefreshedBy): Pick<Known, 'jkt'> =>
  by.kind === 'oauth' && by.binds && by.thumbprint !== undefined ? { jkt: by.thumbprint } : {};

/**
 * Within the leeway the client that used the token may have lost the response. The token is refused, but the family
 * stays alive, even from another network, which may be the same device. A thief gets nothing in either case.
 */
function replayed(
  { seq, now, mode, leewayMs, lastRefresh }: Refresh,
  session: Known,
): Decision<SessionEvent, 'refresh_token_rotated' | 'not_looked_up'> {
  const sinceMs = now.getTime() - new Date(session.rotated_at).getTime();
  const isForgivable = mode !== 'strict' && seq === session.seq - 1 && sinceMs <= leewayMs;
  if (isForgivable && lastRefresh?.seq !== session.seq) return refuse('not_looked_up');
  if (!isForgivable) {
    const revoked = {
      ...factsOf(session),
      revoked_at: now.toISOString(),
      reason: 'reuse',
    } as const;
    return refuse('refresh_token_rotated', { type: 'SessionRevoked', data: revoked });
  }
  // Another network or user agent may be the same device after a change between Wi-Fi and mobile.
  const isElsewhere = lastRefresh?.isCallers !== true;
  const recorded = repeatRecorded(session, { now, isElsewhere });
  return mode === 'idempotent' && !isElsewhere
    ? accept(...recorded)
    : refuse('refresh_token_rotated', ...recorded);
}

function repeatRecorded(
  session: Known,
  { now, isElsewhere }: { readonly now: Date; readonly isElsewhere: boolean },
): readonly SessionEvent[] {
  const before = session.repeated_at === undefined ? 0 : new Date(session.repeated_at).getTime();
  const isNews = isElsewhere && session.repeated_elsewhere !== true;
  if (now.getTime() - before < REPEAT_RECORDED_EVERY_MS && !isNews) return [];
  const { repeated_elsewhere: _before, ...facts } = factsOf(session);
  const elsewhere = isElsewhere ? ({ repeated_elsewhere: true } as const) : {};
  const data = { ...facts, repeated_at: now.toISOString(), ...elsewhere };
  return [{ type: 'SessionRefreshRepeated', data }];
}
