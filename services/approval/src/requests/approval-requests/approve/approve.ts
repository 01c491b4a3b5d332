import { accept, type Decision, refuse } from '@cardea/event-store';
import { WRONG_CODES_MAX } from '../../limits.ts';
import { type ApprovalRequest, type RequestEvent, toDecide } from '../request.ts';

export type Approve = {
  readonly userId: string;
  /** Unix seconds of the last strong sign-in; null if the token has none. */
  readonly authTime: number | null;
  readonly now: Date;
  readonly userVouched: boolean;
  /** How the sent code compares with the request's; the comparison takes constant time. */
  readonly code: 'none' | 'right' | 'wrong';
};

export type ApproveRefusal =
  | 'request_not_found'
  | 'request_not_pending'
  | 'request_expired'
  | 'approver_not_vouched'
  | 'step_up_required'
  | 'binding_code_required'
  | 'binding_code_mismatch';

export function approve(
  { userId, authTime, now, userVouched, code }: Approve,
  request: ApprovalRequest,
): Decision<RequestEvent, ApproveRefusal> {
  const found = toDecide(userId, now, request);
  if ('barred' in found) return found.barred;
  const { facts, wrongCodes } = found.pending;
  const at = {
    responded_by: userId,
    responded_at: now.toISOString(),
    user_vouched: userVouched,
  };
  if (facts.binding?.vouch_required === true && !userVouched) return refuse('approver_not_vouched');
  if (isStale(facts.binding?.max_auth_age_seconds, authTime, now))
    return refuse('step_up_required');
  if (facts.binding?.number_match === true && code !== 'right') {
    if (code === 'none') return refuse('binding_code_required');
    const wrong = { type: 'BindingCodeRefused', data: { by: userId } } as const;
    return wrongCodes + 1 < WRONG_CODES_MAX
      ? refuse('binding_code_mismatch', wrong)
      : refuse<'binding_code_mismatch', RequestEvent>('binding_code_mismatch', wrong, {
          type: 'ApprovalDenied',
          data: { ...at, cause: 'binding_code' },
        });
  }
  const signedIn = authTime === null ? {} : { auth_time: authTime };
  return accept({ type: 'ApprovalApproved', data: { ...at, ...signedIn } });
}

function isStale(maxAgeSeconds: number | undefined, authTime: number | null, now: Date): boolean {
  if (maxAgeSeconds === undefined) return false;
  return authTime === null || now.getTime() / 1000 - authTime > maxAgeSeconds;
}
