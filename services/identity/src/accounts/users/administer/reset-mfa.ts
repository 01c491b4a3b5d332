/** An administrator removes all second factors of an account whose owner has lost them. */

import { accept, type Decision, refuse } from '@cardea/event-store';
import type { Administrator } from '../../../ranks/ranks.ts';
import { outranks } from '../administrator.ts';
import { factorRemoved } from '../second-factors.ts';
import { exists, type User, type UserEvent } from '../user.ts';

export type ResetMfa = { readonly by: Administrator; readonly now: Date };

/** Records no event if there was no factor. */
export function resetMfa(
  { by, now }: ResetMfa,
  user: User,
): Decision<UserEvent, 'not_found' | 'forbidden'> {
  if (!exists(user)) return refuse('not_found');
  if (outranks(user, by)) return refuse('forbidden');
  const { factors } = user.secondFactors;
  return accept<UserEvent>(
    ...factors.map((factor, index) =>
      factorRemoved(user.id, factor, { isLast: index === factors.length - 1, now }),
    ),
  );
}
