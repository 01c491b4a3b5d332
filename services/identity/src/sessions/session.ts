/**
 * A session is a family of refresh tokens: one sign-in on one device. Every event contains the whole state,
 * so only the last one is loaded.
 */
import type { Sealed } from '@cardea/crypto';
import { accept, type Decision, type Stream } from '@cardea/event-store';
import { type Basis, type BasisNow, stands } from '../streams/basis.ts';

/**
 * `login`: a client of the API, with a refresh token. `browser`: a sign-in at the hosted pages, without a refresh
 * token. `oauth`: an application that got tokens of its user.
 */
export type SessionKind = 'login' | 'browser' | 'oauth';

export type SessionFacts = {
  readonly id: string;
  readonly user_id: string;
  /** The user's epoch at the start. The session ends when the epoch rises. */
  readonly user_epoch: number;
  readonly kind: SessionKind;
  readonly client_id: string | null;
  readonly consent_id: string | null;
  readonly consent_epoch: number | null;
  readonly scope: string | null;
  readonly resource: string | null;
  /** Thumbprint of the key to which its refresh tokens are bound (RFC 9449, 5). */
  readonly jkt?: string;
  /** The salt in base64url, from which the deployment's key derives the refresh tokens. */
  readonly salt: string;
  /** The number of the only valid refresh token. */
  readonly seq: number;
  readonly rotated_at: string;
  /**
   * The network prefix and user agent that used the refresh token before `seq`. Missing before the first refresh, and
   * after a refresh by a release that did not have this field.
   */
  readonly refreshed_by?: { readonly seq: number; readonly caller: Sealed };
  /** The time when a repeat of the token before `seq` within the leeway was last recorded. */
  readonly repeated_at?: string;
  /** The repeat came from another network or user agent than the refresh. */
  readonly repeated_elsewhere?: true;
  /**
   * For an application: the browser sign-in with which the session ends. Null with `offline_access`, which continues
   * after the sign-in. Sessions from older releases lack the field and continue as well.
   */
  readonly browser_sid?: string | null;
  /**
   * For a browser sign-in: applications that have an address for logout notices and got tokens without their own
   * session, oldest first.
   */
  readonly served_clients?: readonly string[];
  /** For a browser sign-in: the previous one of the same person in the same browser. */
  readonly earlier_sid?: string;
  /** Unix seconds. */
  readonly auth_time: number;
  readonly amr: readonly string[];
  readonly app_id: string | null;
  readonly ip: Sealed;
  readonly user_agent: Sealed;
  readonly started_at: string;
  readonly last_active_at: string;
  /** Each refresh extends it, up to `ends_at`. */
  readonly expires_at: string;
  readonly ends_at: string;
  readonly revoked_at: string | null;
  readonly reason: RevocationReason | null;
};

/**
 * Why a session was ended. `reuse`: a refresh token or a code was used twice. `replaced`: another account signed in in
 * the same browser. `browser`: its browser sign-in ended. `logout`: the browser signed out at the hosted pages.
 * `limit`: the user has more sessions than allowed.
 */
export type RevocationReason =
  | 'user'
  | 'reuse'
  | 'admin'
  | 'oauth_revoke'
  | 'replaced'
  | 'browser'
  | 'logout'
  | 'limit';

/** How the session was created. Only `login` is a separate sign-in. */
export type SessionOrigin = 'login' | 'register' | 'signup' | 'invitation' | 'oauth';

export type SessionEvent =
  | {
      readonly type: 'SessionStarted';
      readonly concerns?:
        | 'relay'
        | 'end_least_recent_sessions'
        | 'notify_new_device'
        | 'sessions'
        | 'users';
      readonly data: SessionFacts & {
        readonly via: SessionOrigin;
        readonly method: string;
        /** The user at that time, as JSON. Published events need no other source. */
        readonly user: Sealed;
      };
    }
  | {
      readonly type: 'SessionRefreshed';
      readonly concerns?: 'sessions';
      readonly data: SessionFacts;
    }
  /** The user confirmed the sign-in by a factor: `auth_time` and `amr` are new. */
  | {
      readonly type: 'SessionStepped';
      readonly concerns?: 'relay';
      readonly data: SessionFacts & {
        readonly method: string;
        /** Null for a password. */
        readonly factor_id: string | null;
      };
    }
  /** The browser sign-in has served one more application. */
  | { readonly type: 'SessionServed'; readonly concerns?: 'sessions'; readonly data: SessionFacts }
  /** The same person had signed in before in that browser. */
  | { readonly type: 'SessionContinued'; readonly concerns?: never; readonly data: SessionFacts }
  | {
      readonly type: 'SessionRefreshRepeated';
      readonly concerns?: 'relay';
      readonly data: SessionFacts;
    }
  | {
      readonly type: 'SessionRevoked';
      readonly concerns?:
        | 'relay'
        | 'end_browser_sessions'
        | 'end_orphaned_agent_sessions'
        | 'queue_logout_notices'
        | 'revocation_rules'
        | 'revocations'
        | 'sessions';
      readonly data: SessionFacts;
    };

export type Session = { readonly status: 'none' } | ({ readonly status: 'known' } & SessionFacts);

export const sessions: Stream<Session, SessionEvent> = {
  noun: 'session',
  initial: { status: 'none' },
  stateCarrying: true,
  evolve: (_before, { type, data }) => {
    switch (type) {
      case 'SessionStarted': {
        const { via: _via, method: _method, user: _user, ...facts } = data;
        return { status: 'known', ...facts };
      }
      case 'SessionStepped': {
        const { method: _method, factor_id: _factor, ...facts } = data;
        return { status: 'known', ...facts };
      }
      case 'SessionRefreshed':
      case 'SessionRefreshRepeated':
      case 'SessionServed':
      case 'SessionContinued':
      case 'SessionRevoked':
        return { status: 'known', ...data };
    }
  },
};

/** The state besides its own on which a session's validity depends. */
export type ValidityContext = Pick<BasisNow, 'user'> & {
  readonly tenantActive: boolean;
  /** The epoch of the consent that the session depends on. Null if the consent was withdrawn. */
  readonly consentEpoch?: number | null;
};

export const isAlive = (
  session: SessionFacts,
  { user, tenantActive, consentEpoch = null }: ValidityContext,
  now: Date,
): boolean =>
  tenantActive &&
  stands(basisOfSession(session), { user, consentEpoch, sessionGoesOn: goesOn(session, now) });

/** Whether the session itself has neither been ended nor expired. */
export const goesOn = ({ revoked_at, expires_at }: SessionFacts, now: Date): boolean =>
  revoked_at === null && now < new Date(expires_at);

const basisOfSession = ({ id, user_epoch, consent_id, consent_epoch }: SessionFacts): Basis => ({
  user_epoch,
  sid: id,
  ...(consent_id === null ? {} : { consent: { id: consent_id, epoch: consent_epoch ?? 0 } }),
});

/** The fields that each event of an existing session repeats. */
export const factsOf = ({ status: _status, ...facts }: Extract<Session, { status: 'known' }>) =>
  facts as SessionFacts;

/** Ends a session that was not ended before, even if it has expired. It does not change any other session. */
export function endSession(
  { now, reason }: { readonly now: Date; readonly reason: RevocationReason },
  session: Session,
): Decision<SessionEvent, never> {
  if (session.status === 'none' || session.revoked_at !== null) return accept();
  const revoked_at = now.toISOString();
  return accept({ type: 'SessionRevoked', data: { ...factsOf(session), revoked_at, reason } });
}
