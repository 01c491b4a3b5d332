/**
 * A person changes their address. Both addresses prove the change by mail, in any order. Without the present address
 * the change requires a second factor that is at least seven days old, and takes effect after seven days in which the
 * present address can cancel it.
 */
import type { Sealed } from '@cardea/crypto';
import { accept, type Decision, refuse } from '@cardea/event-store';
import { type EmailChange, type EmailSide, releasedByChange } from '../emails-of-user.ts';
import {
  type ExistingUser,
  exists,
  type KeptSession,
  keptSid,
  type User,
  type UserEvent,
} from '../user.ts';

const HOUR_MS = 3600_000;
/** The lifetime of the mailed links and codes. */
export const EMAIL_CHANGE_MS = 24 * HOUR_MS;
/** The delay before the change takes effect, if the present address is out of reach. */
export const OUT_OF_REACH_MS = 7 * 24 * HOUR_MS;
/** The minimum age of the second factor. Otherwise a thief of the password could enrol a factor first. */
const FACTOR_AGE_MS = 7 * 24 * HOUR_MS;

export type RequestEmailChange = {
  readonly changeId: string;
  readonly email: Sealed;
  readonly hash: string;
  readonly isOutOfReach: boolean;
  /** Whether the tenant requires second factors. If not, a password is enough for a recent sign-in. */
  readonly asksForFactors: boolean;
  readonly session: KeptSession | null;
  readonly now: Date;
};

export function requestEmailChange(
  command: RequestEmailChange,
  user: User,
): Decision<UserEvent, 'not_found' | 'unchanged' | 'second_factor_required'> {
  if (user.status !== 'active') return refuse('not_found');
  const { changeId, email, hash, now, session } = command;
  if (hash === user.emailHash) return refuse('unchanged');
  const isDeferred = command.isOutOfReach && user.emailVerified;
  const mayDefer = command.asksForFactors && hasFactorSince(user, before(now, FACTOR_AGE_MS));
  if (isDeferred && !mayDefer) return refuse('second_factor_required');
  const missing: readonly EmailSide[] =
    user.emailVerified && !isDeferred ? ['new', 'present'] : ['new'];
  return accept({
    type: 'EmailChangeRequested',
    data: {
      id: user.id,
      change_id: changeId,
      email,
      email_hash: hash,
      missing,
      epoch: user.epoch,
      keep_sid: keptSid(user, session),
      expires_at: later(now, EMAIL_CHANGE_MS),
      effective_at: isDeferred ? later(now, OUT_OF_REACH_MS) : null,
      at: now.toISOString(),
    },
  });
}

const later = (now: Date, ms: number): string => new Date(now.getTime() + ms).toISOString();
const before = (now: Date, ms: number): string => later(now, -ms);

/** Whether the user has a factor that existed at that time. */
const hasFactorSince = ({ secondFactors }: ExistingUser, at: string): boolean =>
  secondFactors.factors.some((factor) => (factor.at ?? '') <= at);

/** The pending change, unless it has expired, or the account's sessions or the account have ended. */
export function pendingEmailChange(user: User, now: Date): EmailChange | undefined {
  if (user.status !== 'active') return undefined;
  const { emailChange: change = null, epoch, keepSid } = user;
  if (change === null) return undefined;
  if (change.epoch !== epoch && (change.sid === null || change.sid !== keepSid)) return undefined;
  if (change.missing.length > 0 && now >= new Date(change.expiresAt)) return undefined;
  return change;
}

export type ProveEmailChange = {
  readonly changeId: string;
  readonly side: EmailSide;
  readonly now: Date;
};

export function proveEmailChange(
  { changeId, side, now }: ProveEmailChange,
  user: User,
): Decision<UserEvent, 'stopped'> {
  const change = pendingEmailChange(user, now);
  if (!exists(user) || change?.id !== changeId) return refuse('stopped');
  if (!change.missing.includes(side)) return accept();
  const data = { id: user.id, change_id: changeId, side, at: now.toISOString() };
  return accept({ type: 'EmailChangeProven', data });
}

/** `void`: the change can never take effect. `early`: something is still missing. */
export type EmailChangeRefusal = 'void' | 'early' | 'address_lost';

export function changeEmail(
  { changeId, now }: { readonly changeId: string; readonly now: Date },
  user: User,
): Decision<UserEvent, EmailChangeRefusal> {
  const change = pendingEmailChange(user, now);
  if (!exists(user) || change?.id !== changeId) return refuse('void');
  if (change.missing.length > 0) return refuse('early');
  if (change.effectiveAt !== null) {
    if (now < new Date(change.effectiveAt)) return refuse('early');
    if (!hasFactorSince(user, change.requestedAt)) return refuse('void');
  }
  const { id, emailHash: previous_hash, epoch } = user;
  const { email, hash: email_hash, sid } = change;
  const at = now.toISOString();
  const kept = sid === null ? null : keptSid(user, { sid, userEpoch: change.epoch });
  const data = { id, email, email_hash, previous_hash, email_verified: true, by: 'user' } as const;
  return accept<UserEvent>(...releasedByChange(user, { id, newHash: email_hash, at }), {
    type: 'EmailChanged',
    data: { ...data, epoch: epoch + 1, keep_sid: kept, at },
  });
}

export type StopEmailChange = {
  readonly by: Extract<UserEvent, { type: 'EmailChangeStopped' }>['data']['by'];
  /** Undefined means any pending change. */
  readonly changeId?: string | undefined;
  readonly now: Date;
};

/** Changes nothing if no change is pending. */
export function stopEmailChange(
  { by, changeId, now }: StopEmailChange,
  user: User,
): Decision<UserEvent, never> {
  if (!exists(user)) return accept();
  const { id, emailChange: change = null } = user;
  if (change === null || (changeId !== undefined && change.id !== changeId)) return accept();
  const data = { id, change_id: change.id, by, at: now.toISOString() };
  return accept({ type: 'EmailChangeStopped', data });
}

/** When a deferred change is near, its present address is notified again. */
export function remindOfEmailChange(
  { now }: { readonly now: Date },
  user: User,
): Decision<UserEvent, never> {
  const change = pendingEmailChange(user, now);
  if (!exists(user) || change === undefined) return accept();
  const data = { id: user.id, change_id: change.id, at: now.toISOString() };
  return accept({ type: 'EmailChangeReminded', data });
}
