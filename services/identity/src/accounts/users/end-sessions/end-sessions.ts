/** Ends every session of a user except one, in one step, by raising the epoch. */
import { accept, type Decision, refuse } from '@cardea/event-store';
import { exists, type KeptSession, keptSid, type User, type UserEvent } from '../user.ts';

export type EndSessions = {
  readonly keep: KeptSession | null;
  /** How many sessions it ends, according to the table. */
  readonly count: number;
  readonly now: Date;
};

export function endSessions(
  { keep, count, now }: EndSessions,
  user: User,
): Decision<UserEvent, 'not_found'> {
  if (!exists(user)) return refuse('not_found');
  const data = { id: user.id, epoch: user.epoch + 1, keep_sid: keptSid(user, keep), count };
  return accept({ type: 'SessionsRevoked', data: { ...data, at: now.toISOString() } });
}
