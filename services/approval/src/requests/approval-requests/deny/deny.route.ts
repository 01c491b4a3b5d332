import type { Command } from '@cardea/event-store';
import { endpoint } from '@cardea/http';
import { cleaned, uuidFrom } from '@cardea/runtime';
import type { FactCopies, ServiceDependencies, SetHolders } from '@cardea/service';
import Type from 'typebox';
import type { Counters } from '../../counters.ts';
import type { IdentityFacts } from '../../identity-facts/identity-facts.ts';
import { MINUTE_MS, MUTE_MINUTES_MAX } from '../../limits.ts';
import { mute } from '../../queues/mute.ts';
import { queueIdOf, queues } from '../../queues/queue.ts';
import type { Changes } from '../changes.ts';
import { deciderOf } from '../decider.ts';
import { sealWord } from '../make-request.ts';
import { type ApprovalRequest, requests } from '../request.ts';
import { target } from '../request-shape.ts';
import { COMMENT_MAX_CHARS, DECIDE_REFUSALS, DECIDES, usersOnly } from '../users-only.ts';
import { addresseeId, severalMayDecide } from '../who-decides.ts';
import { deny } from './deny.ts';

type DenyDependencies = Pick<
  ServiceDependencies,
  'streams' | 'command' | 'sealer' | 'revocations'
> & {
  readonly changes: Changes;
  readonly identityFacts: IdentityFacts;
  readonly factCopies: Pick<FactCopies, 'user'>;
  readonly setHolders: SetHolders;
  readonly counters: Counters;
};

export const denyRequest = (approval: DenyDependencies) =>
  endpoint(
    {
      ...DECIDES,
      name: 'deny_request',
      repeat: 'never',
      summary: 'Deny a request that names the caller; final',
      description:
        'Denies a pending request. Only the user whom the request names may, in person; of a request to a set, everyone who stands in it at that moment, is active and vouched for; after an escalation the second addressee too. One denial is enough. A decision is final. A vend that was denied is not put to the user again for 15 minutes; three denials within an hour mute the agent towards this user for an hour, and `mute_agent_minutes` mutes it at once.',
      path: '/api/v1/ciba/requests/{id}/deny',
      body: Type.Object({
        reason: Type.Optional(Type.String({ minLength: 1, maxLength: COMMENT_MAX_CHARS })),
        mute_agent_minutes: Type.Optional(Type.Integer({ minimum: 1, maximum: MUTE_MINUTES_MAX })),
      }),
      ok: Type.Object({ status: Type.Literal('denied') }, { additionalProperties: false }),
      refusals: DECIDE_REFUSALS,
    },
    {
      authorize: usersOnly(approval),
      handle: async (request, { id: userId }) => {
        const { tenantId, params, body } = request;
        const command = await approval.command(request);
        const said = cleaned(body.reason ?? '');
        const of = { tenantId, userId, id: params.id, said };
        const decided = await decide(approval, of, command);
        if (decided === 'erased') return { refused: 'unauthenticated' };
        const wrote = decided.position;
        if (wrote !== undefined) await approval.changes.announce(params.id, decided.revision);
        if (!decided.accepted) return { refused: decided.reason, wrote, target: target(params.id) };
        const minutes = body.mute_agent_minutes;
        if (minutes !== undefined && decided.state.status !== 'none') {
          const queue = queueIdOf({
            tenantId,
            // If the request names a set, the mute applies to requests to that set. A deputy mutes the agent for the
            // person in whose place they decide.
            userId: addresseeId(decided.state.facts),
            agentId: decided.state.facts.agent_id,
          });
          const until = new Date(command.now.getTime() + minutes * MINUTE_MS);
          const step = { ...command, id: uuidFrom('mute', command.id) };
          await approval.streams.decideOn(queues, queue, step, (present) => mute(until, present));
        }
        return { ok: { status: 'denied' as const }, wrote };
      },
    },
  );

type ToDeny = {
  readonly tenantId: string;
  readonly userId: string;
  readonly id: string;
  readonly said: string;
};

/**
 * First decides as if the request named one person, which needs no further read of the request. Only if it does not
 * name the caller and several may decide, everyone involved is looked up.
 */
async function decide(approval: DenyDependencies, of: ToDeny, command: Command) {
  const asNamed = await decideOn(approval, of, requests.initial, command);
  if (asNamed === 'erased' || asNamed.accepted) return asNamed;
  const { state, reason } = asNamed;
  const isForOthers = state.status !== 'none' && severalMayDecide(state.facts);
  if (!isForOthers || reason !== 'request_not_found') return asNamed;
  return decideOn(approval, of, state, command);
}

async function decideOn(
  approval: DenyDependencies,
  { tenantId, userId, id, said }: ToDeny,
  known: ApprovalRequest,
  command: Command,
) {
  const of = { tenantId, userId, vouchRequired: false };
  const decider = await deciderOf(approval, of, { request: known, now: command.now });
  const isToSet = known.status !== 'none' && known.facts.approver !== undefined;
  const place = { tenantId, userId, requestId: id, isToSet };
  const reason = said === '' ? undefined : await sealWord(approval, place, 'deny_reason', said);
  if (reason === 'erased') return reason;
  const words = reason === undefined ? {} : { reason };
  const input = { ...decider, now: command.now, ...words };
  return approval.streams.decideOn(requests, id, command, (present) => deny(input, present));
}
