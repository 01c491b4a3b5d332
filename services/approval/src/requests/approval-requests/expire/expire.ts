import { accept, type Decision } from '@cardea/event-store';
import {
  type ApprovalExpired,
  type ApprovalRequest,
  type ExpiryCause,
  expired,
  isOverdue,
} from '../request.ts';

/** A request that is no longer pending keeps its outcome. */
export function expire(
  cause: ExpiryCause,
  now: Date,
  request: ApprovalRequest,
): Decision<ApprovalExpired, never> {
  if (request.status !== 'pending') return accept();
  if (cause === 'time' && !isOverdue(request, now)) return accept();
  return accept(expired(cause, now));
}
