import type { Sealed } from '@cardea/crypto';
import { accept, type Decision } from '@cardea/event-store';
import { type ApprovalRequest, type RequestEvent, toDecide } from '../request.ts';

export type Deny = {
  readonly userId: string;
  readonly userVouched: boolean;
  readonly now: Date;
  readonly reason?: Sealed;
};
export type DenyRefusal = 'request_not_found' | 'request_not_pending' | 'request_expired';

/** Denying needs neither a code nor a fresh sign-in. */
export function deny(
  { userId, userVouched, now, reason }: Deny,
  request: ApprovalRequest,
): Decision<RequestEvent, DenyRefusal> {
  const found = toDecide(userId, now, request);
  if ('barred' in found) return found.barred;
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
