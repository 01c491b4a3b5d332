/** How many of those who approved for a set could still approve. */
import { NOBODY, type SetHolders } from '@cardea/service';
import type { ExistingRequest } from '../approval-requests/request.ts';

export async function stillHolding(
  { setHolders }: { readonly setHolders: SetHolders },
  request: ExistingRequest,
): Promise<number> {
  const { approver: set, tenant_id: tenantId } = request.facts;
  const userIds = request.status === 'approved' ? (request.responders ?? []) : [];
  if (set === undefined) return 0;
  const standing = await setHolders.standing({ tenantId, set, userIds });
  return userIds.filter((id) => {
    const { holds, isVouched } = standing.get(id) ?? NOBODY;
    return holds && isVouched;
  }).length;
}
