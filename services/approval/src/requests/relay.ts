/** The events that are published about requests. They never contain a reason's text, a digest or a code. */
import type { approvalEvents } from '@cardea/contracts';
import { type RelayTools, relay } from '@cardea/event-bus';
import { ignored, type Recorded } from '@cardea/event-store';
import type { TenantForgotten } from '@cardea/service';
import { type CodeGuessesEvent, guesserOf } from './approval-requests/code-guesses.ts';
import {
  type AccessWanted,
  approvalsNeeded,
  type RequestEvent,
  type RequestFacts,
  requests,
} from './approval-requests/request.ts';
import type { QueueChanged } from './queues/queue.ts';

export const approvalRelay = relay<
  RequestEvent | QueueChanged | CodeGuessesEvent | TenantForgotten,
  typeof approvalEvents
>({
  ApprovalRequested: ({ data }) => {
    const { origin, channels, binding } = data;
    const notify_webhook = channels.includes('webhook');
    const session_id = binding?.session_id ?? null;
    return {
      type: 'approval.requested',
      data: {
        ...subjectOf(data),
        ...vouchedIn(data),
        ...setOf(data),
        origin,
        notify_webhook,
        session_id,
      },
    };
  },
  ApprovalGiven: async ({ data }, tools) => {
    const { responded_by, responded_at, responders, needed } = data;
    const given = responders.length;
    return {
      type: 'approval.given',
      data: { ...(await factsIn(tools)), responded_by, responded_at, given, needed },
    };
  },
  ApprovalEscalated: async ({ data: { to } }, tools) => ({
    type: 'approval.escalated',
    data: { ...(await factsIn(tools)), to },
  }),
  ApprovalApproved: async ({ data: { responded_by, responded_at, responders } }, tools) => ({
    type: 'approval.approved',
    data: {
      ...(await factsIn(tools)),
      responded_by,
      responded_at,
      ...(responders === undefined ? {} : { responders: [...responders] }),
      ...(await accessIn(tools)),
    },
  }),
  ApprovalDenied: async ({ data: { responded_by, responded_at, cause } }, tools) => ({
    type: 'approval.denied',
    data: { ...(await factsIn(tools)), responded_by, responded_at, cause },
  }),
  ApprovalExpired: async ({ data: { cause } }, tools) => ({
    type: 'approval.expired',
    data: { ...(await factsIn(tools)), cause },
  }),
  ApprovalConsumed: async ({ data: { grant_id } }, tools) => ({
    type: 'approval.consumed',
    data: { ...(await factsIn(tools)), grant_id },
  }),
  DecisionRefused: async ({ data: { cause } }, tools) => ({
    type: 'approval.decision_refused',
    data: { ...(await factsIn(tools)), cause },
  }),
  BindingCodeRefused: async (_event, tools) => ({
    type: 'approval.decision_refused',
    data: { ...(await factsIn(tools)), cause: 'binding_code' },
  }),
  TenantForgotten: ignored('identity has published it'),
  // The request itself has already published the wrong code.
  BindingCodeMissed: (event) => {
    const { level = 1, blocked_until } = event.data;
    if (blocked_until === null) return undefined;
    const data = { user_id: guesserOf(event), level, blocked_until };
    return { type: 'approval.codes_blocked', data };
  },
});

/** The user's state when they decided the request, if they have. */
async function factsIn({ history }: RelayTools) {
  const events = await history(requests);
  const [first] = events;
  if (first?.type !== 'ApprovalRequested') throw new Error('a request that nobody made');
  const answer = events.find(isAnswer);
  const { origin } = first.data;
  const vouched = vouchedIn(answer?.data ?? first.data);
  return { ...subjectOf(first.data), origin, ...vouched, ...setOf(first.data) };
}

/** Identity adds this access to the agent, so no other request may contain it. */
async function accessIn({ history }: RelayTools) {
  const [first] = await history(requests);
  const access = first?.type === 'ApprovalRequested' ? first.data.access : undefined;
  if (access === undefined) return {};
  const { services, duration_seconds } = access;
  return { access: { services: services.map(copied), duration_seconds } };
}

const copied = ({ service_name, fields }: AccessWanted['services'][number]) => ({
  service_name,
  fields: [...fields],
});

type Answer = Recorded<RequestEvent, 'ApprovalApproved' | 'ApprovalDenied'>;
const isAnswer = (event: Recorded<RequestEvent>): event is Answer =>
  event.type === 'ApprovalApproved' || event.type === 'ApprovalDenied';

const vouchedIn = ({ user_vouched }: { readonly user_vouched?: boolean }) =>
  user_vouched === undefined ? {} : { user_vouched };

/** Only requests to a set have these fields. */
const setOf = (facts: RequestFacts) =>
  facts.approver === undefined ? {} : { set: facts.user_id, needed: approvalsNeeded(facts) };

function subjectOf(facts: RequestFacts) {
  const { id, agent_id, agent_name, user_id, action, resource, deputy_for } = facts;
  const { severity, ttl_seconds, created_at, expires_at } = facts;
  return {
    id,
    agent_id,
    agent_name,
    user_id,
    ...(deputy_for === undefined ? {} : { deputy_for }),
    action,
    ...(resource === undefined ? {} : { resource }),
    severity,
    ttl_seconds,
    created_at,
    expires_at,
  };
}
