/**
 * Maintains the table `requests`, which the lists, the sweeper and the policies read. In live operation it also fills
 * the queue of notifications, because a rebuild must send no mail.
 */
import type { ApproverSet } from '@cardea/contracts';
import type { Sealed } from '@cardea/crypto';
import type { Recorded } from '@cardea/event-store';
import {
  jsonOf,
  orNull,
  projection,
  rowStatements,
  type Statement,
  table,
  textOf,
} from '@cardea/read-models';
import { type TenantForgotten, tenantRowsDeleted } from '@cardea/service';
import { WAITING_PER_CHANNEL_MAX } from '../limits.ts';
import { beginsBlock, type CodeGuessesEvent, guesserOf } from './code-guesses.ts';
import {
  type AccessWanted,
  type ActionBinding,
  type Binding,
  type Origin,
  type RequestEvent,
  type RequestFacts,
  requests,
  SEVERITIES,
  type Severity,
  type Status,
} from './request.ts';
import { escalationOf } from './who-decides.ts';

type Of<Type extends RequestEvent['type']> = Recorded<RequestEvent, Type>;

export const requestRows = table('requests', {
  key: ['tenant_id', 'id'],
  columns: {
    tenant_id: 'text',
    id: 'text',
    app_id: orNull('text'),
    agent_id: 'text',
    agent_name: 'text',
    user_id: 'text',
    /** Null in older rows. */
    origin: orNull(textOf<Origin>()),
    user_vouched: orNull('boolean'),
    action: 'text',
    resource: orNull('text'),
    reason: orNull(jsonOf<Sealed>()),
    severity: textOf<Severity>(),
    status: textOf<Status>(),
    ttl_seconds: 'integer',
    binding: orNull(jsonOf<Binding>()),
    created_at: 'timestamptz',
    expires_at: 'timestamptz',
    responded_at: orNull('timestamptz'),
    responded_by: orNull('text'),
    use_before: orNull('timestamptz'),
    consumed_at: orNull('timestamptz'),
    grant_id: orNull('text'),
    /** Null for a request to one person. */
    approver: orNull(jsonOf<ApproverSet>()),
    needed: orNull('integer'),
    responders: orNull(jsonOf<readonly string[]>()),
    session_user_id: orNull('text'),
    access: orNull(jsonOf<AccessWanted>()),
    action_binding: orNull(jsonOf<ActionBinding>()),
    /** The time from which a second approver may decide too, and who that is. Null if there is none. */
    escalates_at: orNull('timestamptz'),
    escalates_to: orNull('text'),
    second_approver: orNull(jsonOf<ApproverSet>()),
    escalated_at: orNull('timestamptz'),
    /** The person in whose place a deputy received the request. */
    deputy_for: orNull('text'),
  },
});
/**
 * Everyone who has given one of several approvals, even if it no longer counts. The rows have the time of the request.
 */
const given = table('approvals_given', {
  key: ['tenant_id', 'request_id', 'user_id'],
  columns: {
    tenant_id: 'text',
    request_id: 'text',
    user_id: 'text',
    created_at: 'timestamptz',
  },
});
const keyOf = ({ metadata, streamId }: Recorded<RequestEvent>) => ({
  tenant_id: metadata.tenantId,
  id: streamId.slice(requests.noun.length + 1),
});

export const requestsTable = (wake: () => void) =>
  projection<RequestEvent | CodeGuessesEvent | TenantForgotten>()({
    name: 'requests',
    log: 'approval',
    tables: [requestRows, given],
    on: {
      ApprovalRequested: ({ data }) => [requestRows.put(rowOf(data))],
      ApprovalEscalated: (event) => [
        requestRows.patch(keyOf(event), { escalated_at: event.data.escalated_at }),
      ],
      ApprovalGiven: (event) => [requestRows.patch(keyOf(event), respondersOf(event.data))],
      ApprovalApproved: (event) => {
        const { data } = event;
        const answer = { status: 'approved' as const, ...answerOf(data) };
        const { responders } = data;
        // Only requests to a set have that column.
        const more = responders === undefined ? {} : respondersOf({ responders });
        return [requestRows.patch(keyOf(event), { ...answer, ...more })];
      },
      ApprovalDenied: (event) => [
        requestRows.patch(keyOf(event), { status: 'denied', ...answerOf(event.data) }),
      ],
      ApprovalExpired: (event) => [requestRows.patch(keyOf(event), { status: 'expired' })],
      ApprovalConsumed: (event) => {
        const { consumed_at, grant_id } = event.data;
        return [requestRows.patch(keyOf(event), { consumed_at, grant_id })];
      },
    },
    apply: {
      on: [
        'ApprovalRequested',
        'ApprovalGiven',
        'ApprovalEscalated',
        'ApprovalApproved',
        'BindingCodeMissed',
        'TenantForgotten',
      ],
      statements: (events, { rebuilding, schema }) => [
        ...useBefore(events.filter(isApproved), schema),
        ...approvalsGiven(events.filter(isGiven), schema),
        ...(rebuilding ? [] : notificationJobs(events.flatMap(askedBy))),
        ...(rebuilding ? [] : blockNotices(events.filter(isBlock))),
        ...tenantRowsDeleted(events.filter(isForgotten), [
          `${schema}.requests`,
          `${schema}.approvals_given`,
          ...(rebuilding ? [] : ['approval.notification_jobs']),
        ]),
      ],
    },
    onCommitted: (events) => {
      if (events.some((event) => askedBy(event).length > 0 || isBlock(event))) wake();
    },
    onAppliedElsewhere: wake,
  });

type Event = Recorded<RequestEvent | CodeGuessesEvent | TenantForgotten>;

const isForgotten = (event: Event): event is Recorded<TenantForgotten> =>
  event.type === 'TenantForgotten';
type Missed = Recorded<CodeGuessesEvent, 'BindingCodeMissed'>;
const isBlock = (event: Event): event is Missed =>
  event.type === 'BindingCodeMissed' && beginsBlock(event);
const isGiven = (event: Event): event is Of<'ApprovalGiven'> => event.type === 'ApprovalGiven';
const isApproved = (event: Event): event is Of<'ApprovalApproved'> =>
  event.type === 'ApprovalApproved';

const answerOf = ({
  responded_at,
  responded_by,
  user_vouched = null,
}: {
  readonly responded_at: string;
  readonly responded_by: string;
  readonly user_vouched?: boolean | null;
}) => ({ responded_at, responded_by, user_vouched });

function rowOf(facts: RequestFacts) {
  const escalation = escalationOf(facts);
  const second = escalation?.approver;
  return {
    tenant_id: facts.tenant_id,
    id: facts.id,
    app_id: facts.app_id ?? null,
    agent_id: facts.agent_id,
    agent_name: facts.agent_name,
    user_id: facts.user_id,
    origin: facts.origin,
    user_vouched: null,
    action: facts.action,
    resource: facts.resource ?? null,
    reason: facts.reason ?? null,
    severity: facts.severity,
    status: 'pending' as const,
    ttl_seconds: facts.ttl_seconds,
    binding: facts.binding ?? null,
    created_at: facts.created_at,
    expires_at: facts.expires_at,
    responded_at: null,
    responded_by: null,
    use_before: null,
    consumed_at: null,
    grant_id: null,
    approver: facts.approver ?? null,
    needed: facts.needed ?? null,
    responders: null,
    session_user_id: facts.session_user_id ?? null,
    action_binding: facts.action_binding ?? null,
    access: facts.access ?? null,
    escalates_at: escalation?.at.toISOString() ?? null,
    escalates_to: escalation?.to ?? null,
    second_approver: second === undefined || 'user_id' in second ? null : second,
    escalated_at: null,
    deputy_for: facts.deputy_for ?? null,
  };
}

const respondersOf = ({ responders }: { readonly responders: readonly string[] }) => ({
  responders: [...responders],
});

/** The row already contains the length of the window. The approval's event only records when it began. */
function useBefore(
  events: readonly Of<'ApprovalApproved'>[],
  schema: string,
): readonly Statement[] {
  const approved = events.map(keyOf);
  if (approved.length === 0) return [];
  const text = `UPDATE ${schema}.requests AS r
    SET use_before = r.responded_at +
      (coalesce(r.binding, r.action_binding)->>'use_window_seconds')::integer * interval '1 s'
    FROM unnest($1::text[], $2::text[]) AS a (tenant_id, id)
    WHERE r.tenant_id = a.tenant_id AND r.id = a.id
      AND coalesce(r.binding, r.action_binding) IS NOT NULL`;
  const values = [approved.map(({ tenant_id }) => tenant_id), approved.map(({ id }) => id)];
  return [{ name: `${schema}_use_before`, text, values }];
}

function approvalsGiven(
  events: readonly Of<'ApprovalGiven'>[],
  schema: string,
): readonly Statement[] {
  if (events.length === 0) return [];
  const text = `INSERT INTO ${schema}.approvals_given (tenant_id, request_id, user_id, created_at)
    SELECT r.tenant_id, r.id, g.user_id, r.created_at
    FROM unnest($1::text[], $2::text[], $3::text[]) AS g (tenant_id, id, user_id)
    JOIN ${schema}.requests r ON r.tenant_id = g.tenant_id AND r.id = g.id
    ON CONFLICT DO NOTHING`;
  const keys = events.map(keyOf);
  const values = [
    keys.map(({ tenant_id }) => tenant_id),
    keys.map(({ id }) => id),
    events.map(({ data }) => data.responded_by),
  ];
  return [{ name: `${schema}_approvals_given`, text, values }];
}

/** A person or a set to whom the request is sent, at first or by an escalation. */
type Addressee = {
  readonly tenant_id: string;
  readonly id: string;
  readonly user_id: string;
  readonly created_at: string;
  readonly severity: string;
  readonly channels: readonly string[];
};

function askedBy(event: Event): readonly Addressee[] {
  if (event.type === 'ApprovalRequested') return [event.data];
  if (event.type !== 'ApprovalEscalated') return [];
  const { to: user_id, escalated_at: created_at, severity, channels } = event.data;
  const { tenantId: tenant_id } = event.metadata;
  const id = event.streamId.slice(requests.noun.length + 1);
  return [{ tenant_id, id, user_id, created_at, severity, channels }];
}

/** Webhooks are served by the integration event; everything else is queued here. */
function notificationJobs(addressees: readonly Addressee[]): readonly Statement[] {
  const jobs = addressees.flatMap(({ channels, ...request }) =>
    channels.filter((channel) => channel !== 'webhook').map((channel) => ({ ...request, channel })),
  );
  if (jobs.length === 0) return [];
  const values = [
    jobs.map(({ tenant_id }) => tenant_id),
    jobs.map(({ id }) => id),
    jobs.map(({ channel }) => channel),
    jobs.map(({ user_id }) => user_id),
    jobs.map(({ created_at }) => created_at),
    jobs.map(({ severity }) => severity),
    [...SEVERITIES],
  ];
  return [{ ...QUEUE_JOBS, values }];
}

/** One statement serves mail and channels, so that a tenant without channels needs no second one. */
const QUEUE_JOBS = {
  name: 'approval_queue_notifications',
  text: `WITH j AS (
           SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[],
             $6::text[]) AS j (t, r, c, u, at, severity)
         ), told AS (
           INSERT INTO approval.channel_jobs (tenant_id, channel_id, request_id, run_at)
           SELECT k.tenant_id, k.id, j.r, j.at
           FROM j JOIN approval.channels k ON k.tenant_id = j.t
             AND j.c = CASE k.format WHEN 'ntfy' THEN 'push' ELSE 'chat' END
           WHERE k.enabled AND (k.recipient IS NULL OR k.recipient = j.u)
             AND array_position($7::text[], k.min_severity) <= array_position($7::text[], j.severity)
             AND (SELECT count(*) FROM (
                   SELECT 1 FROM approval.channel_jobs w
                   WHERE w.tenant_id = k.tenant_id AND w.channel_id = k.id
                   LIMIT ${WAITING_PER_CHANNEL_MAX}) AS waiting) < ${WAITING_PER_CHANNEL_MAX}
           ON CONFLICT DO NOTHING
         )
         INSERT INTO approval.notification_jobs (tenant_id, request_id, channel, user_id, run_at, state)
         SELECT t, r, c, u, at, 'waiting' FROM j WHERE c NOT IN ('chat', 'push')
         ON CONFLICT DO NOTHING`,
};

const jobs = table('notification_jobs', {
  key: ['tenant_id', 'request_id', 'channel', 'user_id'],
  columns: {
    tenant_id: 'text',
    request_id: 'text',
    channel: 'text',
    user_id: 'text',
    run_at: 'timestamptz',
    state: 'text',
    blocked_until: orNull('timestamptz'),
  },
});

/** These notices are always mails, because the person who guesses may be another one with the user's session. */
const blockNotices = (events: readonly Missed[]): readonly Statement[] =>
  rowStatements(
    { schema: 'approval', tables: [jobs] },
    events.map((event) =>
      jobs.insert({
        tenant_id: event.metadata.tenantId,
        request_id: event.id,
        channel: 'email',
        user_id: guesserOf(event),
        run_at: event.time,
        state: 'waiting',
        blocked_until: event.data.blocked_until,
      }),
    ),
  );
