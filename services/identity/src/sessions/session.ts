/**
 * A session is a family of refresh tokens: one sign-in on one device. Every event contains the whole state,
 * so only the last one is loaded.
 */
import type { Sealed } from '@cardea/crypto';
import type { Stream } from '@cardea/event-store';

/**
 * `login`: a client of the API, with a refresh token. `browser`: a sign-in at the hosted pages, without one.
 * `oauth`: an application that got tokens of its user.
 */
export type SessionKind = 'login' | 'browser' | 'oauth';

export type SessionFacts = {
  readonly id: string;
  readonly user_id: string;
  /** The user's epoch when it began; the session ends when that rises. */
  readonly user_epoch: number;
  readonly kind: SessionKind;
  readonly client_id: string | null;
  readonly consent_id: string | null;
  readonly consent_epoch: number | null;
  readonly scope: string | null;
  readonly resource: string | null;
  /** base64url; with the deployment's key it yields the refresh tokens. */
  readonly salt: string;
  /** Number of the only valid refresh token. */
  readonly seq: number;
  readonly rotated_at: string;
  /**
   * Who used the refresh token before `seq`: network prefix and user agent. Missing before the first
   * refresh, and after a refresh by a release that did not have this field.
   */
  readonly refreshed_by?: { readonly seq: number; readonly caller: Sealed };
  /** When a repeat of the token before `seq` within the leeway was last recorded. */
  readonly repeated_at?: string;
  /** Unix seconds. */
  readonly auth_time: number;
  readonly amr: readonly string[];
  readonly app_id: string | null;
  readonly ip: Sealed;
  readonly user_agent: Sealed;
  readonly started_at: string;
  readonly last_active_at: string;
  /** Extended by each refresh, up to `ends_at`. */
  readonly expires_at: string;
  readonly ends_at: string;
  readonly revoked_at: string | null;
  readonly reason: RevocationReason | null;
};

export type RevocationReason = 'user' | 'reuse' | 'admin' | 'oauth_revoke';

/** How the session was created; only `login` is a sign-in of its own. */
export type SessionOrigin = 'login' | 'register' | 'signup' | 'invitation' | 'oauth';

export type SessionEvent =
  | {
      readonly type: 'SessionStarted';
      readonly data: SessionFacts & {
        readonly via: SessionOrigin;
        readonly method: string;
        /** The user at that time, as JSON; published events need nothing else. */
        readonly user: Sealed;
      };
    }
  | { readonly type: 'SessionRefreshed'; readonly data: SessionFacts }
  /** A factor was shown once more: `auth_time` and `amr` are new. */
  | {
      readonly type: 'SessionStepped';
      readonly data: SessionFacts & {
        readonly method: string;
        /** Null for a password. */
        readonly factor_id: string | null;
      };
    }
  | { readonly type: 'SessionRefreshRepeated'; readonly data: SessionFacts }
  | { readonly type: 'SessionRevoked'; readonly data: SessionFacts };

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
      case 'SessionRevoked':
        return { status: 'known', ...data };
    }
  },
};

/** What a session's validity depends on besides its own state. */
export type ValidityContext = {
  readonly user: {
    readonly active: boolean;
    readonly epoch: number;
    readonly keepSid: string | null;
  };
  readonly tenantActive: boolean;
  /** The epoch of the consent that the session rests on; null if that was withdrawn. */
  readonly consentEpoch?: number | null;
};

export function isAlive(
  session: SessionFacts,
  { user, tenantActive, consentEpoch }: ValidityContext,
  now: Date,
) {
  return (
    (session.consent_id === null || session.consent_epoch === consentEpoch) &&
    session.revoked_at === null &&
    now < new Date(session.expires_at) &&
    user.active &&
    tenantActive &&
    (session.user_epoch === user.epoch || session.id === user.keepSid)
  );
}

/** The fields that each event of an existing session repeats. */
export const factsOf = ({ status: _status, ...facts }: Extract<Session, { status: 'known' }>) =>
  facts as SessionFacts;
