/**
 * The sign-ins with one e-mail address, whether or not it has an account: which ones failed, and the blocks that
 * follow. The stream also contains the logins that start no session.
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
  /** Whether a refusal because of this block was recorded. That happens once per block. */
  readonly reported: boolean;
};
export type SigninFacts = {
  /** Records of networks, least recently used first. */
  readonly prefixes: readonly PrefixRecord[];
  /** Wrong passwords from all networks. */
  readonly all: AccountRecord;
  /** Wrong second factors. Missing if there were none. */
  readonly second?: AccountRecord;
  readonly known_prefixes: readonly string[];
  /** How often all counts were cleared. The number is part of the keys of counters outside the stream. */
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
        /** The account was blocked for all networks except known ones; this is the number of such blocks. */
        readonly account_level?: number;
        readonly after: SigninFacts;
      };
    }
  /** A wrong second factor. The stream of the pending sign-in publishes it. */
  | {
      readonly type: 'SecondFactorMissed';
      readonly concerns?: never;
      readonly data: { readonly user_id: string; readonly after: SigninFacts };
    }
  /** A sign-in that starts no session. */
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
        /** Set if an administrator unlocked the person. Missing if they proved who they are. */
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
  /** The user at that time, as JSON. Published events need no other source. */
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

/** The current block of this network, if any. */
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

/** Whether a sign-in from this network succeeded and the network was not locked out since. */
export const isTrusted = (signin: Signin, prefix: string): boolean =>
  signin.status === 'seen' &&
  signin.known_prefixes.includes(prefix) &&
  (signin.prefixes.find((record) => record.prefix === prefix)?.level ?? 0) === 0;

/** Returns when the current block of second factors ends. The block applies to all networks. */
export function secondFactorBlockOf(signin: Signin, now: Date): Date | undefined {
  const second = signin.status === 'seen' ? signin.second : undefined;
  if (second?.blocked_until == null || !isAccountBlocked(second, now)) return undefined;
  return new Date(second.blocked_until);
}

/** The keys of counters that are charged before the hash. Each block and each clearing starts new counters. */
export const pairCounter = (signin: Signin, prefix: string): string =>
  `${prefix}:${levelOf(signin, prefix)}:${clearingsOf(signin)}`;
export const clearingsOf = (signin: Signin): number =>
  signin.status === 'none' ? 0 : (signin.clearings ?? 0);

/** How often this network was locked out. */
export const levelOf = (signin: Signin, prefix: string): number =>
  signin.status === 'none'
    ? 0
    : (signin.prefixes.find((record) => record.prefix === prefix)?.level ?? 0);

/** How often the account was blocked, without blocks that are old enough to be forgotten. */
export function accountLevelOf(signin: Signin, what: 'all' | 'second', now: Date): number {
  const record = signin.status === 'none' ? undefined : signin[what];
  return record === undefined ? 0 : accountLevel(record, now);
}
