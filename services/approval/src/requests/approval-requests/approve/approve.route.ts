import { sameBytes } from '@cardea/crypto';
import { endpoint } from '@cardea/http';
import type { FactCopies, ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import type { Counters } from '../../counters.ts';
import type { IdentityFacts } from '../../identity-facts/identity-facts.ts';
import { userValidity } from '../../identity-facts/user-validity.ts';
import type { Changes } from '../changes.ts';
import { type ApprovalRequest, type ExistingRequest, requests, streamOf } from '../request.ts';
import { target } from '../request-shape.ts';
import { DECIDE_REFUSALS, DECIDES, usersOnly } from '../users-only.ts';
import { type Approve, approve } from './approve.ts';

type ApproveDependencies = Pick<
  ServiceDependencies,
  'streams' | 'command' | 'sealer' | 'revocations'
> & {
  readonly changes: Changes;
  readonly identityFacts: IdentityFacts;
  readonly factCopies: Pick<FactCopies, 'user'>;
  readonly counters: Counters;
};

const CODE_MAX_CHARS = 16;

export const approveRequest = (approval: ApproveDependencies) =>
  endpoint(
    {
      ...DECIDES,
      name: 'approve_request',
      retry: 'never',
      summary: 'Approve a request that names the caller; final',
      path: '/api/v1/ciba/requests/{id}/approve',
      body: Type.Object({
        binding_code: Type.Optional(Type.String({ minLength: 1, maxLength: CODE_MAX_CHARS })),
      }),
      ok: Type.Object({ status: Type.Literal('approved') }, { additionalProperties: false }),
      refusals: {
        ...DECIDE_REFUSALS,
        approver_not_vouched: 403,
        step_up_required: 401,
        binding_code_required: 422,
        binding_code_mismatch: 422,
      },
    },
    usersOnly(approval),
    async (request, user) => {
      const { id } = request.params;
      const command = await approval.command(request);
      const { state } = await approval.streams.load(requests, { tenantId: request.tenantId, id });
      const code = await compared(approval, state, request.body.binding_code);
      const ofUser = { tenantId: request.tenantId, userId: user.id };
      const { isVouched } = await userValidity(approval, ofUser, asksForVouched(state));
      const { authTime } = user;
      const of = { userId: user.id, authTime, now: command.now, userVouched: isVouched, code };
      const decided = await approval.streams.decideOn(requests, id, command, (present) =>
        approve(of, present),
      );
      const wrote = decided.position;
      if (wrote !== undefined) await approval.changes.announce(id, decided.revision);
      if (decided.accepted) return { ok: { status: 'approved' as const }, wrote };
      const { reason: refused, state: standing } = decided;
      const headers = refused === 'step_up_required' ? stepUp(standing) : {};
      return { refused, wrote, headers, target: target(id) };
    },
  );

const asksForVouched = (request: ApprovalRequest): boolean =>
  request.status === 'pending' && request.facts.binding?.vouch_required === true;

/** In constant time; the code never changes while a request exists. */
async function compared(
  { sealer }: ApproveDependencies,
  request: { readonly status: 'none' } | ExistingRequest,
  sent: string | undefined,
): Promise<Approve['code']> {
  if (sent === undefined) return 'none';
  if (request.status === 'none' || request.facts.binding === undefined) return 'wrong';
  const { facts } = request;
  const { code } = request.facts.binding;
  const right = await sealer.open(code, { streamId: streamOf(facts.id), field: 'code' });
  return right !== null && sameBytes(right, sent) ? 'right' : 'wrong';
}

function stepUp(request: { readonly status: 'none' } | ExistingRequest) {
  const maxAge = request.status === 'none' ? 0 : request.facts.binding?.max_auth_age_seconds;
  const challenge = `Bearer error="insufficient_user_authentication", max_age="${maxAge ?? 0}"`;
  return { 'WWW-Authenticate': challenge };
}
