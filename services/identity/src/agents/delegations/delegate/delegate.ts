/** A delegation is granted, granted again with other services, or withdrawn. */
import { accept, type Decision, refuse } from '@cardea/event-store';
import type { User } from '../../../accounts/accounts.module.ts';
import type { Delegation, DelegationData, DelegationEvent } from '../delegation.ts';

/** Refuses if the requesting token was revoked in the meantime, with the account or its rank. */
export const grantDelegation = (
  command: DelegationData & { readonly request_hash: string | null },
  { user, issuedAt }: { readonly user: User; readonly issuedAt: number },
): Decision<DelegationEvent, 'forbidden'> =>
  user.status === 'active' && issuedAt >= user.tokensBefore
    ? accept({ type: 'DelegationGranted', data: command })
    : refuse('forbidden');

export function withdrawDelegation(
  { userId, now }: { readonly userId: string; readonly now: Date },
  delegation: Delegation,
): Decision<DelegationEvent, 'not_found'> {
  if (delegation.status === 'none' || delegation.user_id !== userId) return refuse('not_found');
  if (delegation.status === 'withdrawn') return accept();
  const { id, user_id, agent_id, services } = delegation;
  const withdrawn_at = now.toISOString();
  return accept({
    type: 'DelegationWithdrawn',
    data: { id, user_id, agent_id, services, withdrawn_at },
  });
}
