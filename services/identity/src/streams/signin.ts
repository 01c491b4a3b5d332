/**
 * The sign-ins by one e-mail address, whether or not anybody has it: which failed and what that blocks. Its
 * stream also holds the logins that leave no session.
 */
import type { Sealed } from '@cardea/crypto';
import type { Stream } from '@cardea/event-store';
import { type AccountRecord, accountLevel, isAccountBlocked } from '@cardea/service';

export type PrefixRecord = {
  readonly prefix: string;
  readonly failures: number;
  readonly window_at: string;
  readonly level: number;
  readonly blocked_until: string | null;
  /** The block was recorded as met; that is recorded once. */
  readonly reported: boolean;
};
export type SigninFacts = {
  /** Least recent first. */
  readonly prefixes: readonly PrefixRecord[];
  /** Wrong passwords from all networks. */
  readonly all: AccountRecord;
  /** Wrong second factors; absent where there were none. */
  readonly second?: AccountRecord;
  readonly known_prefixes: readonly string[];
  /** How often everything that was counted was cleared; names the counters beside the stream. */
  readonly clearings?: number;
};
export type Signin = { readonly status: 'none' } | ({ readonly status: 'seen' } & SigninFacts);

export type SigninEvent =
  | {
      readonly type: 'SignInFailed';
      readonly data: {
        readonly user_id: string | null;
        readonly method: string;
        readonly reason: FailureReason;
        readonly failures: number;
        readonly blocked_until: string | null;
        /** The account was blocked, for all networks but known ones: how often by now. */
        readonly account_level?: number;
        readonly after: SigninFacts;
      };
    }
  /** A wrong second factor; the sign-in that waited for it tells others of it. */
  | {
      readonly type: 'SecondFactorMissed';
      readonly concerns?: never;
      readonly data: { readonly user_id: string; readonly after: SigninFacts };
    }
  /** A sign-in that leaves no session. */
  | {
      readonly type: 'SignedIn';
      readonly concerns?: 'relay' | 'users';
      readonly data: SignedInBy & { readonly at: string; readonly after: SigninFacts };
    }
  | {
      readonly type: 'SignInCleared';
      readonly concerns?: 'relay' | 'users';
      readonly data: {
        readonly user_id: string;
        /** An administrator let them try again; absent where they proved who they are. */
        readonly by?: 'administrator';
        readonly after: SigninFacts;
      };
    };

export type FailureReason =
  | 'invalid_credentials'
  | 'disabled'
  | 'email_not_verified'
  | 'password_login_disabled'
  | 'blocked';

export type SignedInBy = {
  readonly user_id: string;
  readonly method: string;
  readonly amr: readonly string[];
  /** The user as of then, as JSON; what is told to others needs nothing else. */
  readonly user: Sealed;
};

export const signins: Stream<Signin, SigninEvent> = {
  noun: 'signin',
  initial: { status: 'none' },
  stateCarrying: true,
  evolve: (_before, { type, data }) => {
    switch (type) {
      case 'SignInFailed':
      case 'SecondFactorMissed':
      case 'SignedIn':
      case 'SignInCleared':
        return { status: 'seen', ...data.after };
    }
  },
};

export type Block = { readonly until: Date; readonly reported: boolean };

/** The block that stands against this network now, if any. */
export function blockOf(signin: Signin, prefix: string, now: Date): Block | undefined {
  if (signin.status === 'none') return undefined;
  const own = signin.prefixes.find((record) => record.prefix === prefix);
  if (own?.blocked_until != null && now < new Date(own.blocked_until)) {
    return { until: new Date(own.blocked_until), reported: own.reported };
  }
  const { blocked_until: until, reported } = signin.all;
  if (until === null || !isAccountBlocked(signin.all, now)) return undefined;
  return isTrusted(signin, prefix) ? undefined : { until: new Date(until), reported };
}

/** Somebody has signed in from there before, and it was not closed out since. */
export const isTrusted = (signin: Signin, prefix: string): boolean =>
  signin.status === 'seen' &&
  signin.known_prefixes.includes(prefix) &&
  (signin.prefixes.find((record) => record.prefix === prefix)?.level ?? 0) === 0;

/** The block that stands against second factors now, from whatever network. */
export function secondFactorBlockOf(signin: Signin, now: Date): Date | undefined {
  const second = signin.status === 'seen' ? signin.second : undefined;
  if (second?.blocked_until == null || !isAccountBlocked(second, now)) return undefined;
  return new Date(second.blocked_until);
}

/** Name the counters that count before the hash: a block and a clearing each begin new ones. */
export const pairCounter = (signin: Signin, prefix: string): string =>
  `${prefix}:${levelOf(signin, prefix)}:${clearingsOf(signin)}`;
export const clearingsOf = (signin: Signin): number =>
  signin.status === 'none' ? 0 : (signin.clearings ?? 0);

/** How often this network has been closed out. */
export const levelOf = (signin: Signin, prefix: string): number =>
  signin.status === 'none'
    ? 0
    : (signin.prefixes.find((record) => record.prefix === prefix)?.level ?? 0);

/** How often the account has been blocked, as far as that is not forgotten. */
export function accountLevelOf(signin: Signin, what: 'all' | 'second', now: Date): number {
  const record = signin.status === 'none' ? undefined : signin[what];
  return record === undefined ? 0 : accountLevel(record, now);
}
