/** Decides whom an administrator may impersonate: active members only, never an account with a rank. */

import { accept, type Decision, refuse } from '@cardea/event-store';
import { rankOf } from '../../../ranks/ranks.ts';
import { exists, type User } from '../../users/user.ts';
import type { Impersonation, ImpersonationEvent } from '../impersonation.ts';

export const IMPERSONATION_S = 600;
const MS = 1_000;

export type Impersonate = {
  readonly id: string;
  readonly user: User;
  readonly adminId: string;
  readonly reason: string;
  /** When the token expires, in Unix seconds. */
  readonly expiresAt: number;
};

export function impersonate(
  { id, user, adminId, reason, expiresAt }: Impersonate,
  impersonation: Impersonation,
): Decision<ImpersonationEvent, 'not_found' | 'forbidden'> {
  if (impersonation.status === 'started') return accept();
  if (!exists(user)) return refuse('not_found');
  if (rankOf(user.roles) > 0 || user.status !== 'active') return refuse('forbidden');
  const expires_at = new Date(expiresAt * MS).toISOString();
  return accept({
    type: 'ImpersonationStarted',
    data: { id, user_id: user.id, admin_id: adminId, reason, expires_at },
  });
}
