import { sameBytes } from '@cardea/crypto';
import { type Command, WriteContention } from '@cardea/event-store';
import { endpoint } from '@cardea/http';
import { cleaned, failpoint, uuidFrom } from '@cardea/runtime';
import type { FactCopies, ServiceDependencies, SetHolders } from '@cardea/service';
import Type from 'typebox';
import type { Counters } from '../../counters.ts';
import type { IdentityFacts } from '../../identity-facts/identity-facts.ts';
import type { Changes } from '../changes.ts';
import { blockedUntil, codeGuesses, missCode } from '../code-guesses.ts';
import { approvesAsAdmin, deciderOf } from '../decider.ts';
import { sealWord } from '../make-request.ts';
import {
  type ApprovalRequest,
  approvalsNeeded,
  type ExistingRequest,
  givenBy,
  maxAuthAgeSeconds,
  requests,
  streamOf,
} from '../request.ts';
import { ApprovalsShape, target } from '../request-shape.ts';
import { COMMENT_MAX_CHARS, DECIDE_REFUSALS, DECIDES, usersOnly } from '../users-only.ts';
import { type Decider, isVouchRequired, mayAnswer } from '../who-decides.ts';
import { type Approve, approve } from './approve.ts';

type ApproveDependencies = Pick<
  ServiceDependencies,
  'streams' | 'command' | 'sealer' | 'revocations'
> & {
  readonly changes: Changes;
  readonly identityFacts: IdentityFacts;
  readonly factCopies: Pick<FactCopies, 'user'>;
  readonly setHolders: SetHolders;
  readonly counters: Counters;
};

const approved = Type.Object({ status: Type.Literal('approved') }, { additionalProperties: false });
/** The caller has approved, and other persons have to approve too. */
const stillPending = Type.Object(
  { status: Type.Literal('pending'), approvals: ApprovalsShape },
  { additionalProperties: false },
);
const CODE_MAX_CHARS = 16;
/** The maximum number of tries while others approve the same request. */
const LOOKS_MAX = 8;

export const approveRequest = (approval: ApproveDependencies) =>
  endpoint(
    {
      ...DECIDES,
      name: 'approve_request',
      repeat: 'never',
      access: { class: 'things', applicationScope: 'account', readsSignIn: true },
      summary: 'Approve a request that names the caller; final',
      description:
        'Approves a pending request. Only the user whom the request names may, in person: no agent, and no administrator in their name; of a request to a set, everyone who stands in it at that moment, is active and vouched for; after an escalation the second addressee too. Where several have to approve, the answer is 202 with how many have until the last one does; each is looked up again then. A decision is final. A request for access is approved by administrators alone, with a sign-in of the last 10 minutes. A policy can require a recent sign-in, a vouch by an administrator, or the code that the agent shows; after three wrong codes the request is denied.',
      path: '/api/v1/ciba/requests/{id}/approve',
      body: Type.Object({
        binding_code: Type.Optional(Type.String({ minLength: 1, maxLength: CODE_MAX_CHARS })),
        comment: Type.Optional(Type.String({ minLength: 1, maxLength: COMMENT_MAX_CHARS })),
      }),
      ok: approved,
      response: { others: { 202: stillPending } },
      refusals: {
        ...DECIDE_REFUSALS,
        approver_not_admin: 403,
        already_given: 409,
        step_up_required: 401,
        binding_code_required: 422,
        binding_code_mismatch: 422,
        too_many_attempts: 429,
      },
    },
    {
      authorize: usersOnly(approval),
      handle: async (request, user) => {
        const { params, tenantId } = request;
        const { id } = params;
        const command = await approval.command(request);
        const { state } = await approval.streams.load(requests, { tenantId, id });
        const of = { tenantId, userId: user.id, vouchRequired: asksForVouched(state) };
        const decider = await deciderOf(approval, of, { request: state, now: command.now });
        const code = await compared(approval, state, request.body.binding_code);
        const blocked = await countedGuess(approval, { state, decider, code }, command);
        if (blocked !== undefined) return tooManyGuesses(blocked, command.now, target(id));
        // The principal of the request was confirmed after the body had been read.
        const authTime = request.principal.kind === 'user' ? request.principal.authTime : null;
        const words = await sealedComment(approval, state, {
          userId: user.id,
          said: request.body.comment,
        });
        if (words === 'erased') return { refused: 'unauthenticated' };
        const isAdmin = await approvesAsAdmin(approval, of, state);
        const answer = { authTime, now: command.now, code, isAdmin, ...words };
        const decided = await decide(approval, { id, state, of, decider, answer }, command);
        const wrote = decided.position;
        if (wrote !== undefined) await approval.changes.announce(id, decided.revision);
        const standing = decided.state;
        if (decided.accepted) {
          if (standing.status === 'pending')
            return { ok: pendingStill(standing), status: 202, wrote };
          return { ok: { status: 'approved' as const }, wrote };
        }
        const { reason: refused } = decided;
        if (refused === 'too_many_attempts') {
          return tooManyGuesses(endOfTime(standing, command.now), command.now, target(id));
        }
        const headers = refused === 'step_up_required' ? stepUp(standing) : {};
        return { refused, wrote, headers, target: target(id) };
      },
    },
  );

type Answer = Pick<Approve, 'authTime' | 'now' | 'code' | 'comment' | 'isAdmin'>;

/** Encrypts the comment under the key of the user, or under the request's own key if a set has to approve. */
async function sealedComment(
  approval: ApproveDependencies,
  request: ApprovalRequest,
  { userId, said }: { readonly userId: string; readonly said: string | undefined },
): Promise<Pick<Approve, 'comment'> | 'erased'> {
  const word = cleaned(said ?? '');
  if (word === '' || request.status === 'none') return {};
  const { id: requestId, tenant_id: tenantId, approver } = request.facts;
  const place = { tenantId, userId, requestId, isToSet: approver !== undefined };
  const comment = await sealWord(approval, place, 'comment', word);
  return comment === 'erased' ? comment : { comment };
}

type ToDecide = {
  readonly id: string;
  readonly state: ApprovalRequest;
  readonly of: Parameters<typeof deciderOf>[1];
  readonly decider: Awaited<ReturnType<typeof deciderOf>>;
  readonly answer: Answer;
};

/** Looks up all approvers again if somebody else has approved between the lookup and the decision. */
async function decide(approval: ApproveDependencies, first: ToDecide, command: Command) {
  const { id, of, answer } = first;
  let { state, decider } = first;
  for (let look = 1; look <= LOOKS_MAX; look += 1) {
    if (isLastOne(state)) await failpoint('given.before_final');
    const input = { ...decider, ...answer };
    const decided = await approval.streams.decideOn(requests, id, command, (present) =>
      approve(input, present),
    );
    if (decided.accepted) return decided;
    const { reason } = decided;
    if (reason !== 'look_again') return { ...decided, reason };
    state = decided.state;
    decider = await deciderOf(approval, of, { request: state, now: answer.now });
  }
  throw new WriteContention('many approve one request at once');
}

/** Whether the next approval may be the last of several. */
const isLastOne = (request: ApprovalRequest): boolean =>
  request.status === 'pending' &&
  approvalsNeeded(request.facts) > 1 &&
  givenBy(request).length + 1 >= approvalsNeeded(request.facts);

const pendingStill = (request: ExistingRequest) => ({
  status: 'pending' as const,
  approvals: { given: givenBy(request).length, needed: approvalsNeeded(request.facts) },
});

/** The approver cannot try again before the request expires. */
const endOfTime = (request: ApprovalRequest, now: Date): Date =>
  request.status === 'none' ? now : new Date(request.facts.expires_at);

const asksForVouched = (request: ApprovalRequest): boolean =>
  request.status === 'pending' && isVouchRequired(request.facts);

/** Compares in constant time. The code never changes while a request exists. */
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

/**
 * Returns the end of the block if the caller may not guess codes. A wrong code is counted before the caller learns the
 * result.
 */
async function countedGuess(
  { streams }: ApproveDependencies,
  of: {
    readonly state: ApprovalRequest;
    readonly decider: Decider;
    readonly code: Approve['code'];
  },
  command: Command,
): Promise<Date | undefined> {
  const { state, decider, code } = of;
  const { userId } = decider;
  const isGuess =
    code !== 'none' &&
    state.status === 'pending' &&
    mayAnswer(decider, state, command.now) &&
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
  const maxAge = request.status === 'none' ? 0 : maxAuthAgeSeconds(request.facts);
  const challenge = `Bearer error="insufficient_user_authentication", max_age="${maxAge ?? 0}"`;
  return { 'WWW-Authenticate': challenge };
}
