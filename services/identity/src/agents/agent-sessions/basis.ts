/** What an agent session on behalf of a user rests on, and whether that is still there. */
import type { Streams } from '@cardea/event-store';
import type { User, UserDirectory } from '../../accounts/accounts.module.ts';
import { type Session, sessions } from '../../sessions/sessions.module.ts';
import type { AgentSessionFacts, EndReason } from './agent-session.ts';

export type OnBehalf = Pick<AgentSessionFacts, 'user_id' | 'via' | 'created_at'> & {
  readonly user_epoch?: number | null;
  readonly subject_sid?: string | null;
};

/**
 * By the user's own token it lasts as long as that login session, and ends with the password. By a
 * delegation it ends when all sessions are ended or somebody else sets the password: the user's own
 * change of it is no sign that the agent is unwanted. One that a release before this field has started
 * ends, in whichever way it began, when anything of that happens.
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

/** The login session's own end; what the user's epoch says of it is said of the agent session, too. */
export const endedWithLogin = (login: Session, now: Date): EndReason | undefined =>
  login.status === 'none' || login.revoked_at !== null || now >= new Date(login.expires_at)
    ? 'login_ended'
    : undefined;

/** Out of the streams: why the session is over although nobody has ended it yet. */
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
