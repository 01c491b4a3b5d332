import type { Sealed } from '@cardea/crypto';
import { accept, type Decision, refuse } from '@cardea/event-store';
import type { ApprovalRequest, RequestEvent } from '../request.ts';
import { barredFrom, type Decider, toDecide } from '../who-decides.ts';

export type Deny = Decider & {
  readonly userVouched: boolean;
  readonly now: Date;
  readonly reason?: Sealed;
};
export type DenyRefusal =
  | 'request_not_found'
  | 'request_not_pending'
  | 'request_expired'
  | 'approver_not_vouched'
  | 'approver_excluded';

/** A denial needs neither a code nor a fresh sign-in. */
export function deny(of: Deny, request: ApprovalRequest): Decision<RequestEvent, DenyRefusal> {
  const { userId, userVouched, now, reason } = of;
  const found = toDecide(of, now, request);
  if ('barred' in found) return found.barred;
  const barred = barredFrom(found.pending.facts, of);
  if (barred !== undefined) return refuse(barred);
  return accept({
    type: 'ApprovalDenied',
    data: {
      responded_by: userId,
      responded_at: now.toISOString(),
      user_vouched: userVouched,
      cause: 'user',
      ...(reason === undefined ? {} : { reason }),
    },
  });
}
