import { sameBytes } from '@cardea/crypto';
import type { Command } from '@cardea/event-store';
import { endpoint } from '@cardea/http';
import { uuidFrom } from '@cardea/runtime';
import type { FactCopies, ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import type { Counters } from '../../counters.ts';
import type { IdentityFacts } from '../../identity-facts/identity-facts.ts';
import { userValidity } from '../../identity-facts/user-validity.ts';
import type { Changes } from '../changes.ts';
import { blockedUntil, codeGuesses, missCode } from '../code-guesses.ts';
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
      readsSignIn: true,
      summary: 'Approve a request that names the caller; final',
      description:
        'Approves a pending request. Only the user whom the request names may, in person: no agent, and no administrator in their name. A decision is final. A policy can require a recent sign-in, a vouch by an administrator, or the code that the agent shows; after three wrong codes the request is denied.',
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
        too_many_attempts: 429,
      },
    },
    usersOnly(approval),
    async (request, user) => {
      const { id } = request.params;
      const command = await approval.command(request);
      const { state } = await approval.streams.load(requests, { tenantId: request.tenantId, id });
      const code = await compared(approval, state, request.body.binding_code);
      const blocked = await countedGuess(approval, { state, userId: user.id, code }, command);
      if (blocked !== undefined) return tooManyGuesses(blocked, command.now, target(id));
      const ofUser = { tenantId: request.tenantId, userId: user.id };
      const { isVouched } = await userValidity(approval, ofUser, asksForVouched(state));
      // The principal of the request was confirmed after the body had been read.
      const authTime = request.principal.kind === 'user' ? request.principal.authTime : null;
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

/** Until when the caller may guess no codes; a wrong one counts before its answer is known. */
async function countedGuess(
  { streams }: ApproveDependencies,
  of: { readonly state: ApprovalRequest; readonly userId: string; readonly code: Approve['code'] },
  command: Command,
): Promise<Date | undefined> {
  const { state, userId, code } = of;
  const isGuess =
    code !== 'none' &&
    state.status === 'pending' &&
    state.facts.user_id === userId &&
    state.facts.binding?.number_match === true;
  if (!isGuess) return undefined;
  const { tenantId } = command.metadata;
  if (code === 'right') {
    const { state: guesses } = await streams.load(codeGuesses, { tenantId, id: userId });
    return blockedUntil(guesses, command.now);
  }
  const guess = { ...command, id: uuidFrom(command.id, 'guess') };
  const decided = await streams.decideOn(codeGuesses, userId, guess, (guesses) =>
    missCode(command.now, guesses),
  );
  return decided.accepted ? undefined : blockedUntil(decided.state, command.now);
}

const tooManyGuesses = (until: Date, now: Date, of: ReturnType<typeof target>) =>
  ({
    refused: 'too_many_attempts',
    headers: { 'Retry-After': String(Math.ceil((until.getTime() - now.getTime()) / 1_000)) },
    target: of,
  }) as const;

function stepUp(request: { readonly status: 'none' } | ExistingRequest) {
  const maxAge = request.status === 'none' ? 0 : request.facts.binding?.max_auth_age_seconds;
  const challenge = `Bearer error="insufficient_user_authentication", max_age="${maxAge ?? 0}"`;
  return { 'WWW-Authenticate': challenge };
}
