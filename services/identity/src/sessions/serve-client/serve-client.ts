/**
 * Records in a browser sign-in an application that gets tokens from it without its own session, so that the application
 * can be notified when the sign-in ends. There is one event per application.
 */
import { accept, type Decision, refuse } from '@cardea/event-store';
import { factsOf, type Session, type SessionEvent } from '../session.ts';

/** The most applications per sign-in. The oldest are dropped for new ones. */
export const SERVED_CLIENTS_MAX = 50;

/** `ended`: the sign-in has ended, so the application would never be notified. */
export function serveClient(clientId: string, session: Session): Decision<SessionEvent, 'ended'> {
  if (session.status === 'none' || session.revoked_at !== null) return refuse('ended');
  const before = session.served_clients ?? [];
  if (before.includes(clientId)) return accept();
  const served_clients = [...before, clientId].slice(-SERVED_CLIENTS_MAX);
  return accept({ type: 'SessionServed', data: { ...factsOf(session), served_clients } });
}
