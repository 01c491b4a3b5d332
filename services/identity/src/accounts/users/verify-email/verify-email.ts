/** The user has proved that the address is theirs; repeating it changes nothing. */
import { accept, type Decision, refuse } from '@cardea/event-store';
import type { User, UserEvent } from '../user.ts';

export function verifyEmail(now: Date, user: User): Decision<UserEvent, 'not_found'> {
  if (user.status !== 'active') return refuse('not_found');
  if (user.emailVerified) return accept();
  return accept({ type: 'EmailVerified', data: { id: user.id, at: now.toISOString() } });
}
