/** The rules that approve and deny share: only the user to whom the request was sent may decide it. */
import type { AgentPrincipal, UserPrincipal } from '@cardea/auth';
import type { approvalEvents, DataOf } from '@cardea/contracts';
import { accept, type Decision, type Stream } from '@cardea/event-store';
import type { Authorize, Request } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import type { Counters } from '../counters.ts';
import type { IdentityFacts } from '../identity-facts/identity-facts.ts';
import { MINUTE_MS, REFUSALS_PER_MINUTE_MAX, REFUSED_DECISIONS_MAX } from '../limits.ts';
import { type ApprovalRequest, type DecisionRefused, requests } from './request.ts';
import { isImpersonated, isLive, requestId, target } from './request-shape.ts';

type UsersOnlyDependencies = Pick<ServiceDependencies, 'streams' | 'command' | 'revocations'> & {
  readonly counters: Counters;
  readonly identityFacts: IdentityFacts;
};

/** The maximum length of the comment of the person who decides. */
export const COMMENT_MAX_CHARS = 280;

/** Agents pass authentication here, so that their attempt to decide is recorded on the request. */
export const DECIDES = {
  tag: 'Approval requests',
  method: 'post',
  who: ['user', 'agent_token', 'agent_key'],
  access: { class: 'things', applicationScope: 'account' },
  notTaken: { api_key: { status: 401, code: 'unauthenticated' } },
  params: requestId,
  input: { isOptional: true },
  consistency: { waitsFor: ['requests'] },
  recordsItsRefusals: ['user_session_required'],
} as const;

export const DECIDE_REFUSALS = {
  unauthenticated: 401,
  user_session_required: 401,
  request_not_found: 404,
  approver_not_vouched: 403,
  approver_excluded: 403,
  request_not_pending: 409,
  request_expired: 410,
} as const;

type Decider = AgentPrincipal | UserPrincipal;
type AuthorizeUsers = Authorize<
  { readonly id: string },
  unknown,
  keyof typeof DECIDE_REFUSALS,
  UserPrincipal,
  Decider
>;

/** Runs before the body is read. Refuses agents, and records their attempt on the request. */
export const usersOnly =
  (approval: UsersOnlyDependencies): AuthorizeUsers =>
  async (request) => {
    const { principal, params, tenantId } = request;
    if (principal.kind !== 'user' || isImpersonated(principal)) {
      await recordRefusal(approval, request);
      // The response contains no position, because a position would reveal that the request exists.
      return { refused: 'user_session_required', target: target(params.id) };
    }
    const live = await isLive(approval, tenantId, principal.id);
    return live ? { authorized: principal } : { refused: 'unauthenticated' };
  };

/**
 * Records the first few attempts on the request. Later attempts, and attempts without a request, are recorded like any
 * refusal.
 */
async function recordRefusal(
  approval: UsersOnlyDependencies,
  request: Request<{ readonly id: string }, unknown, undefined, Decider>,
): Promise<void> {
  const { streams } = approval;
  const of = { tenantId: request.tenantId, id: request.params.id };
  const command = await approval.command(request);
  const { revision } = await streams.load(requests, of);
  if (revision > 0) {
    const { position } = await streams.decideOn(requests, of.id, command, refuseAgent);
    if (position !== undefined) return;
  }
  const { kind, id } = request.principal;
  const key = `refused:${of.tenantId}:${kind}:${id}`;
  const over = await approval.counters.over(key, REFUSALS_PER_MINUTE_MAX, MINUTE_MS);
  if (over !== undefined) return;
  const { operation } = request;
  await streams.decideOn(denials, command.id, command, () => accept(denied(operation, of.id)));
}

function refuseAgent(request: ApprovalRequest): Decision<DecisionRefused, never> {
  if (request.status === 'none' || request.refusedDecisions >= REFUSED_DECISIONS_MAX) {
    return accept();
  }
  return accept({ type: 'DecisionRefused', data: { cause: 'agent_token' } });
}

type ActionDenied = {
  readonly type: 'ActionDenied';
  readonly data: DataOf<typeof approvalEvents, 'action.denied'>;
};
const denials: Stream<null, ActionDenied> = {
  noun: 'denial',
  initial: null,
  evolve: () => null,
};
const denied = (operation: string, id: string): ActionDenied => ({
  type: 'ActionDenied',
  data: {
    area: 'authorization',
    operation,
    reason: 'user_session_required',
    status: DECIDE_REFUSALS.user_session_required,
    target: target(id),
    count: 1,
  },
});
