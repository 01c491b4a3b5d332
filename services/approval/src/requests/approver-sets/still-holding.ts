/** Counts how many of the approvers could still approve, for requests that several may decide. */
import { statusesOf } from '../approval-requests/decider.ts';
import type { ExistingRequest } from '../approval-requests/request.ts';

export async function stillHolding(
  approval: Parameters<typeof statusesOf>[0],
  request: ExistingRequest,
  now: Date,
): Promise<number> {
  const userIds = request.status === 'approved' ? (request.responders ?? []) : [];
  const statusOf = await statusesOf(approval, userIds, { request, now });
  return userIds.filter((id) => statusOf(id).counts).length;
}
