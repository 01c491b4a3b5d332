/** What the others and the world hear of requests; never a reason's text, a digest or a code. */
import type { approvalEvents, DataOf } from '@cardea/contracts';
import type { Mapped, RelayMapper } from '@cardea/event-bus';
import type { RecordedEvent } from '@cardea/event-store';
import type { RequestEvent, RequestFacts } from './approval-requests/request.ts';

type Type = (typeof approvalEvents)['types'][number];
const say = <Of extends Type>(type: Of, data: DataOf<typeof approvalEvents, Of>): Mapped => ({
  type,
  data,
});

export const mapApprovalEvent: RelayMapper = async (recorded, { history }) => {
  const event = recorded as unknown as RequestEvent;
  switch (event.type) {
    case 'ApprovalRequested': {
      const { origin, channels, binding } = event.data;
      const notify_webhook = channels.includes('webhook');
      const session_id = binding?.session_id ?? null;
      return say('approval.requested', {
        ...subjectOf(event.data),
        ...vouchedIn(event.data),
        origin,
        notify_webhook,
        session_id,
      });
    }
    case 'ApprovalApproved': {
      const { responded_by, responded_at } = event.data;
      return say('approval.approved', { ...(await factsIn(history)), responded_by, responded_at });
    }
    case 'ApprovalDenied': {
      const { responded_by, responded_at, cause } = event.data;
      const answered = { responded_by, responded_at, cause };
      return say('approval.denied', { ...(await factsIn(history)), ...answered });
    }
    case 'ApprovalExpired': {
      const { cause } = event.data;
      return say('approval.expired', { ...(await factsIn(history)), cause });
    }
    case 'ApprovalConsumed': {
      const { grant_id } = event.data;
      return say('approval.consumed', { ...(await factsIn(history)), grant_id });
    }
    case 'DecisionRefused':
      return say('approval.decision_refused', {
        ...(await factsIn(history)),
        cause: event.data.cause,
      });
    case 'BindingCodeRefused':
      return say('approval.decision_refused', {
        ...(await factsIn(history)),
        cause: 'binding_code',
      });
    case 'NotificationSent':
    case 'NotificationFailed':
      return undefined;
  }
  // What a queue keeps is for this service alone.
  return undefined;
};

/** As it was when the user answered, where they have. */
async function factsIn(history: () => Promise<readonly RecordedEvent[]>) {
  const events = (await history()) as unknown as readonly RequestEvent[];
  const [first] = events;
  if (first?.type !== 'ApprovalRequested') throw new Error('a request that nobody made');
  const answer = events.find(isAnswer);
  const { origin } = first.data;
  return { ...subjectOf(first.data), origin, ...vouchedIn(answer?.data ?? first.data) };
}

type Answer = Extract<RequestEvent, { type: 'ApprovalApproved' | 'ApprovalDenied' }>;
const isAnswer = (event: RequestEvent): event is Answer =>
  event.type === 'ApprovalApproved' || event.type === 'ApprovalDenied';

const vouchedIn = ({ user_vouched }: { readonly user_vouched?: boolean }) =>
  user_vouched === undefined ? {} : { user_vouched };

function subjectOf(facts: RequestFacts) {
  const { id, agent_id, agent_name, user_id, action, resource } = facts;
  const { severity, ttl_seconds, created_at, expires_at } = facts;
  return {
    id,
    agent_id,
    agent_name,
    user_id,
    action,
    ...(resource === undefined ? {} : { resource }),
    severity,
    ttl_seconds,
    created_at,
    expires_at,
  };
}
