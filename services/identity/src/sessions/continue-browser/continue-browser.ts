/** Records the previous sign-in of the same person in the same browser. Signing out ends both. */
import { accept, type Decision } from '@cardea/event-store';
import { factsOf, type Session, type SessionEvent } from '../session.ts';

export function continueBrowser(earlier: string, session: Session): Decision<SessionEvent, never> {
  if (session.status === 'none' || session.kind !== 'browser') return accept();
  if (session.revoked_at !== null || session.earlier_sid !== undefined) return accept();
  if (earlier === session.id) return accept();
  return accept({ type: 'SessionContinued', data: { ...factsOf(session), earlier_sid: earlier } });
}
