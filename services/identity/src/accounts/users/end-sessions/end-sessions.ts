/** Ends every session of a user but one, in one step: the epoch rises. */
import { accept, type Decision, refuse } from '@cardea/event-store';
import { exists, type KeptSession, keptSid, type User, type UserEvent } from '../user.ts';

export type EndSessions = {
  readonly keep: KeptSession | null;
  /** How many it ends, as far as the list knows. */
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
