import { WriteContention } from '@cardea/event-store';
import { endpoint } from '@cardea/http';
import { failpoint, uuidFrom } from '@cardea/runtime';
import type { FactCopies, ServiceDependencies, SetHolders } from '@cardea/service';
import Type from 'typebox';
import { stillHolding } from '../../approver-sets/still-holding.ts';
import { type IdentityFacts, patiently } from '../../identity-facts/identity-facts.ts';
import type { Changes } from '../changes.ts';
import { commentOf } from '../read-request.ts';
import { type ApprovalRequest, requests } from '../request.ts';
import { ActionDetails, ActionDigest, isLive, requestId, target } from '../request-shape.ts';
import { isVouchRequired, severalMayDecide } from '../who-decides.ts';
import { type ConsumeAction, consumeAction } from './consume-action.ts';

type ConsumeDependencies = Pick<
  ServiceDependencies,
  'streams' | 'command' | 'clock' | 'revocations' | 'sealer'
> & {
  readonly changes: Changes;
  readonly identityFacts: IdentityFacts;
  readonly factCopies: Pick<FactCopies, 'user'>;
  readonly setHolders: SetHolders;
};

const unauthenticated = { status: 401, code: 'unauthenticated' } as const;
const DIGEST_CHARS = 64;

const consumed = Type.Object(
  {
    status: Type.Literal('consumed'),
    responded_by: Type.String(),
    responders: Type.Array(Type.String()),
    /** The comment of the last approver. */
    comment: Type.Union([Type.String(), Type.Null()]),
  },
  { additionalProperties: false },
);

export const consumeActionRequest = (approval: ConsumeDependencies) =>
  endpoint(
    {
      tag: 'Approval requests',
      name: 'consume_approval_request',
      summary: 'Use the approval of an action, once',
      description:
        'Uses the approval of a request that was bound to an action by `details`, `action_digest` or `use_window_seconds`. Call it right before the action: 200 comes once, to the agent of the request alone, and only for what the person was shown. Send one or more of `action_digest`, `details` and `digest`; each is compared with what was asked. With an `Idempotency-Key` a lost answer can be asked for again within a day. It releases no secret: a vend uses its own approvals.',
      method: 'post',
      path: '/api/v1/ciba/requests/{id}/consume',
      who: ['agent_token', 'agent_key'],
      notTaken: { user: unauthenticated, api_key: unauthenticated },
      params: requestId,
      body: Type.Object(
        {
          action_digest: Type.Optional(ActionDigest),
          details: Type.Optional(ActionDetails),
          digest: Type.Optional(Type.String({ minLength: DIGEST_CHARS, maxLength: DIGEST_CHARS })),
        },
        { minProperties: 1 },
      ),
      ok: consumed,
      refusals: {
        request_not_found: 404,
        not_an_action: 409,
        request_pending: 409,
        request_denied: 403,
        request_expired: 410,
        action_mismatch: 409,
        already_consumed: 409,
        no_approver: 403,
      },
      consistency: { waitsFor: ['requests'] },
      repeat: 'by_key',
    },
    async (request) => {
      const { tenantId, params, principal, body } = request;
      const { id } = params;
      const made = await approval.command(request);
      // The same Idempotency-Key may also have been sent for another request, so the command's id includes the request.
      const command = { ...made, id: uuidFrom('consume action', made.id, id) };
      const { state } = await approval.streams.load(requests, { tenantId, id });
      const known = { agentId: principal.id, sent: body, useId: command.id, now: command.now };
      const looked = await lookedUp(approval, known, state);
      const decided = await approval.streams.decideOn(requests, id, command, (present) =>
        consumeAction({ ...known, ...looked }, present),
      );
      const wrote = decided.position;
      if (wrote !== undefined) await approval.changes.announce(id, decided.revision);
      if (decided.accepted) {
        await failpoint('consume.before_answer');
        return { ok: await answerOf(approval, decided.state), wrote };
      }
      const { reason } = decided;
      // The set approved after the approvers were looked up, so the caller has to try again.
      if (reason === 'look_again') throw new WriteContention('a request is decided at this moment');
      const lost = reason === 'no_approver' ? { details: { reason: 'approver_lost' } } : {};
      return { refused: reason, wrote, ...lost, target: target(id) };
    },
  );

/** Looks up nobody if the command is refused or repeated anyway. */
async function lookedUp(
  approval: ConsumeDependencies,
  known: Omit<ConsumeAction, 'userIsActive'>,
  request: ApprovalRequest,
): Promise<Pick<ConsumeAction, 'userIsActive' | 'stillHolding'>> {
  const asIfHeld = { ...known, userIsActive: true, stillHolding: Number.POSITIVE_INFINITY };
  const { events } = consumeAction(asIfHeld, request);
  if (request.status === 'none' || events.length === 0) return { userIsActive: true };
  const { tenant_id: tenantId, user_id: userId } = request.facts;
  if (severalMayDecide(request.facts)) {
    return { userIsActive: true, stillHolding: await stillHolding(approval, request, known.now) };
  }
  const row = () => approval.identityFacts.user(tenantId, userId);
  // The decision of a deleted user no longer counts.
  const user = await patiently(approval.clock, row);
  const isFit = user !== undefined && (user.vouched || !isVouchRequired(request.facts));
  return { userIsActive: isFit && (await isLive(approval, tenantId, userId)) };
}

async function answerOf(approval: ConsumeDependencies, request: ApprovalRequest) {
  if (request.status !== 'approved') throw new Error('an approval was used that nobody gave');
  const { respondedBy, responders } = request;
  return {
    status: 'consumed' as const,
    responded_by: respondedBy,
    responders: [...(responders ?? [respondedBy])],
    comment: await commentOf(approval, request),
  };
}
