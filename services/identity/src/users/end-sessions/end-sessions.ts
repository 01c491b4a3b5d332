/** Ends every session of a user but one, in one step: the epoch rises. */
import { accept, type Decision, refuse } from '@cardea/event-store';
import { exists, type User, type UserEvent } from '../user.ts';

export type EndSessions = {
  readonly keepSid: string | null;
  /** How many it ends, as far as the list knows. */
  readonly count: number;
  readonly now: Date;
};

export function endSessions(
  { keepSid, count, now }: EndSessions,
  user: User,
): Decision<UserEvent, 'not_found'> {
  if (!exists(user)) return refuse('not_found');
  const data = { id: user.id, epoch: user.epoch + 1, keep_sid: keepSid, count };
  return accept({ type: 'SessionsRevoked', data: { ...data, at: now.toISOString() } });
}
