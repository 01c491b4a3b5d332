/** A user ends one of their own sessions. Another user's session counts as unknown. Repeating it changes nothing. */
import { accept, type Decision, refuse } from '@cardea/event-store';
import {
  endSession,
  isAlive,
  type RevocationReason,
  type Session,
  type SessionEvent,
  type ValidityContext,
} from '../session.ts';

export type RevokeSession = {
  readonly userId: string;
  readonly reason: RevocationReason;
  readonly now: Date;
  readonly validity: ValidityContext;
};

export function revokeSession(
  { userId, reason, now, validity }: RevokeSession,
  session: Session,
): Decision<SessionEvent, 'not_found'> {
  if (session.status === 'none' || session.user_id !== userId) return refuse('not_found');
  if (session.revoked_at !== null) return accept();
  if (!isAlive(session, validity, now)) return refuse('not_found');
  return endSession({ now, reason }, session);
}
