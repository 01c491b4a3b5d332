/** Determines which agent sessions a caller sees. Other sessions look as if they did not exist. */

import type { AgentPrincipal, UserPrincipal } from '@cardea/auth';
import { rankOf } from '../../ranks/ranks.ts';

export const READERS = ['user', 'agent_key', 'agent_token'] as const;

type Reader = AgentPrincipal | UserPrincipal;
export type Visibility = { readonly column: 'agent_id' | 'user_id'; readonly id: string } | 'all';

const ADMIN_RANK = rankOf(['admin']);

/** The agent sees its own sessions, a user those on their behalf, an administrator all of the tenant. */
export function visibilityOf(principal: Reader): Visibility {
  if (principal.kind === 'agent') return { column: 'agent_id', id: principal.id };
  if (rankOf(principal.roles) >= ADMIN_RANK) return 'all';
  return { column: 'user_id', id: principal.id };
}

export function sees(
  principal: Reader,
  session: { readonly agent_id: string; readonly user_id: string | null },
): boolean {
  const visibility = visibilityOf(principal);
  return visibility === 'all' || session[visibility.column] === visibility.id;
}
