import { accept, type Decision, refuse } from '@cardea/event-store';
import { type DeputyChanged, type DeputyState, type Deputyship, presentDeputy } from '../deputy.ts';

export function removeDeputy(
  { userId, now }: { readonly userId: string; readonly now: Date },
  state: DeputyState,
): Decision<DeputyChanged, 'deputy_not_found'> {
  const standing = presentDeputy(state, now);
  if (standing === undefined) return refuse('deputy_not_found');
  return accept({ type: 'DeputyChanged', data: removed(userId, standing) });
}

/** Ends the deputyship because one of the two persons was deleted, whether or not its time is over. */
export function removeWithPerson(
  { userId, goneId }: { readonly userId: string; readonly goneId: string },
  state: DeputyState,
): Decision<DeputyChanged, never> {
  if (state === null || (goneId !== userId && goneId !== state.deputy)) return accept();
  return accept({ type: 'DeputyChanged', data: removed(userId, state) });
}

const removed = (userId: string, { deputy: before }: Deputyship): DeputyChanged['data'] => ({
  user_id: userId,
  deputy: null,
  from: null,
  until: null,
  before,
});
