/**
 * A sign-in at the hosted pages notes an application that gets tokens from it without a session of its own, so that
 * the application can be notified when the sign-in ends. One event for each application, however often it comes back.
 */
import { accept, type Decision, refuse } from '@cardea/event-store';
import { factsOf, type Session, type SessionEvent } from '../session.ts';

/** Those that were served first make room for further ones. */
export const SERVED_CLIENTS_MAX = 50;

/** `ended`: the application would never hear of the end. */
export function serveClient(clientId: string, session: Session): Decision<SessionEvent, 'ended'> {
  if (session.status === 'none' || session.revoked_at !== null) return refuse('ended');
  const before = session.served_clients ?? [];
  if (before.includes(clientId)) return accept();
  const served_clients = [...before, clientId].slice(-SERVED_CLIENTS_MAX);
  return accept({ type: 'SessionServed', data: { ...factsOf(session), served_clients } });
}
