import type { Sealed } from '@cardea/crypto';
import { accept, type Decision, refuse } from '@cardea/event-store';
import { GIVEN_MAX, WRONG_CODES_MAX } from '../../limits.ts';
import {
  type ApprovalRequest,
  approvalsNeeded,
  givenBy,
  maxAuthAgeSeconds,
  type Pending,
  type RequestEvent,
  timesGiven,
} from '../request.ts';
import {
  barredFrom,
  type Decider,
  isVouchRequired,
  severalMayDecide,
  toDecide,
} from '../who-decides.ts';

export type Approve = Decider & {
  /** Unix seconds of the last strong sign-in; null if the token has none. */
  readonly authTime: number | null;
  readonly now: Date;
  readonly userVouched: boolean;
  /**
   * Whether the approver is an administrator, according to a recent lookup. Only looked up if the request gives access.
   */
  readonly isAdmin: boolean;
  /** How the sent code compares with the request's; the comparison takes constant time. */
  readonly code: 'none' | 'right' | 'wrong';
  /** Whether each earlier approver may still approve, according to a recent lookup. */
  readonly earlier: ReadonlyMap<string, boolean>;
  readonly comment?: Sealed;
};

export type ApproveRefusal =
  | 'request_not_found'
  | 'request_not_pending'
  | 'request_expired'
  | 'already_given'
  | 'approver_not_vouched'
  | 'approver_excluded'
  | 'approver_not_admin'
  | 'step_up_required'
  | 'binding_code_required'
  | 'binding_code_mismatch'
  | 'too_many_attempts'
  /** An earlier approver was not looked up. */
  | 'look_again';

export function approve(
  of: Approve,
  request: ApprovalRequest,
): Decision<RequestEvent, ApproveRefusal> {
  const { userId, authTime, now, userVouched, code } = of;
  const found = toDecide(of, now, request);
  if ('barred' in found) return found.barred;
  const { facts, wrongCodes } = found.pending;
  if (givenBy(found.pending).includes(userId)) return refuse('already_given');
  const barred = barredFrom(facts, of);
  if (barred !== undefined) return refuse(barred);
  const at = {
    responded_by: userId,
    responded_at: now.toISOString(),
    user_vouched: userVouched,
  };
  if (isVouchRequired(facts) && !userVouched) return refuse('approver_not_vouched');
  // Only administrators decide what an agent may reach, whatever set the request names.
  if (facts.access !== undefined && !of.isAdmin) return refuse('approver_not_admin');
  if (isStale(maxAuthAgeSeconds(facts), authTime, now)) return refuse('step_up_required');
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
  const words = of.comment === undefined ? {} : { comment: of.comment };
  const answer = { ...at, ...signedIn, ...words };
  if (severalMayDecide(facts)) return oneMore(of, found.pending, answer);
  return accept({ type: 'ApprovalApproved', data: answer });
}

type Answer = Extract<RequestEvent, { readonly type: 'ApprovalApproved' }>['data'];

/** Approvers who have lost the right to approve are no longer counted. */
function oneMore(
  { userId, earlier }: Approve,
  request: Pending,
  answer: Answer,
): Decision<RequestEvent, ApproveRefusal> {
  const before = givenBy(request);
  if (before.some((id) => !earlier.has(id))) return refuse('look_again');
  const responders = [...before.filter((id) => earlier.get(id) === true), userId];
  const needed = approvalsNeeded(request.facts);
  if (responders.length >= needed) {
    return accept({ type: 'ApprovalApproved', data: { ...answer, responders } });
  }
  if (timesGiven(request) >= GIVEN_MAX) return refuse('too_many_attempts');
  const { user_vouched: _, comment: __, ...given } = answer;
  return accept({ type: 'ApprovalGiven', data: { ...given, responders, needed } });
}

function isStale(maxAgeSeconds: number | undefined, authTime: number | null, now: Date): boolean {
  if (maxAgeSeconds === undefined) return false;
  return authTime === null || now.getTime() / 1000 - authTime > maxAgeSeconds;
}
