/** Determines what an agent session on behalf of a user depends on, and whether that still exists. */
import type { Streams } from '@cardea/event-store';
import type { User, UserDirectory } from '../../accounts/accounts.module.ts';
import { type Session, sessions } from '../../sessions/sessions.module.ts';
import type { AgentSessionFacts, EndReason } from './agent-session.ts';

export type OnBehalf = Pick<AgentSessionFacts, 'user_id' | 'via' | 'created_at'> & {
  readonly user_epoch?: number | null;
  readonly subject_sid?: string | null;
};

/**
 * Why the user's changes have ended the session. A session by the user's own token lasts as long as that login session
 * and ends with the password. A session by a delegation ends when all sessions are ended or another person sets the
 * password. The user's own change of password does not end it. A session from a release before this field ends in any
 * of these cases.
 */
export function endedByUser(session: OnBehalf, user: User): EndReason | undefined {
  if (session.user_id === null) return undefined;
  if (user.status !== 'active') return 'user_inactive';
  const { user_epoch: began, subject_sid: sid } = session;
  if (began === undefined || began === null) {
    const isLater = new Date(session.created_at) > new Date(user.epochSince);
    return isLater ? undefined : 'sessions_revoked';
  }
  if (session.via === 'delegation') {
    return began < user.revokedEpoch ? 'sessions_revoked' : undefined;
  }
  if (began < user.passwordEpoch) return 'password_set';
  const isKept = user.keepSid !== null && sid === user.keepSid;
  return began < user.epoch && !isKept ? 'sessions_revoked' : undefined;
}

/**
 * Why the end of the login session ends the agent session. Ends by the user's epoch are checked for the agent session
 * itself.
 */
export const endedWithLogin = (login: Session, now: Date): EndReason | undefined =>
  login.status === 'none' || login.revoked_at !== null || now >= new Date(login.expires_at)
    ? 'login_ended'
    : undefined;

/** Reads from the streams why a session is over although no event has ended it yet. */
export async function whyEnded(
  {
    userDirectory,
    streams,
  }: { readonly userDirectory: Pick<UserDirectory, 'byId'>; readonly streams: Streams },
  session: OnBehalf,
  { tenantId, now }: { readonly tenantId: string; readonly now: Date },
): Promise<EndReason | undefined> {
  if (session.user_id === null) return undefined;
  const reason = endedByUser(session, await userDirectory.byId(tenantId, session.user_id));
  const { subject_sid: id } = session;
  if (reason !== undefined || id === undefined || id === null) return reason;
  const { state } = await streams.load(sessions, { tenantId, id });
  return endedWithLogin(state, now);
}
