/** An administrator ends all sessions of a user whose rank is not above theirs. */
import { type Decision, refuse } from '@cardea/event-store';
import {
  endSessions,
  exists,
  outranks,
  type User,
  type UserEvent,
} from '../../accounts/accounts.module.ts';
import type { Administrator } from '../../ranks/ranks.ts';

export type EndUserSessions = {
  readonly by: Administrator;
  /** How many sessions it ends, according to the table. */
  readonly count: number;
  readonly now: Date;
};

export function endUserSessions(
  { by, count, now }: EndUserSessions,
  user: User,
): Decision<UserEvent, 'not_found' | 'forbidden'> {
  if (exists(user) && outranks(user, by)) return refuse('forbidden');
  return endSessions({ keep: null, count, now }, user);
}
