/**
 * Keeps `requests`, which lists, the sweeper and policies read, and, live only, fills the queue of
 * notifications: a rebuild must send no mail.
 */
import type { RecordedEvent } from '@cardea/event-store';
import {
  type Projected,
  type Projection,
  patch,
  put,
  type TableChange,
  type Transaction,
} from '@cardea/read-models';
import { type RequestEvent, type RequestFacts, requests } from './request.ts';

type On<T extends RequestEvent['type']> = Projected<Extract<RequestEvent, { type: T }>['data']>;

const TABLE = 'requests';
const change = (made: TableChange['change']): readonly TableChange[] => [
  { table: TABLE, change: made },
];
const keyOf = ({ metadata, streamId }: Pick<RecordedEvent, 'metadata' | 'streamId'>) => ({
  tenant_id: metadata.tenantId,
  id: streamId.slice(requests.noun.length + 1),
});

export const requestsTable = (wake: () => void): Projection => ({
  name: TABLE,
  log: 'approval',
  tables: [
    {
      name: TABLE,
      key: ['tenant_id', 'id'],
      columns: {
        tenant_id: 'text',
        id: 'text',
        app_id: 'text',
        agent_id: 'text',
        agent_name: 'text',
        user_id: 'text',
        origin: 'text',
        user_vouched: 'boolean',
        action: 'text',
        resource: 'text',
        reason: 'jsonb',
        severity: 'text',
        status: 'text',
        ttl_seconds: 'integer',
        binding: 'jsonb',
        created_at: 'timestamptz',
        expires_at: 'timestamptz',
        responded_at: 'timestamptz',
        responded_by: 'text',
        use_before: 'timestamptz',
        consumed_at: 'timestamptz',
        grant_id: 'text',
      },
    },
  ],
  on: {
    ApprovalRequested: ({ data }: On<'ApprovalRequested'>) => change(put(rowOf(data))),
    ApprovalApproved: (event: On<'ApprovalApproved'>) => {
      return change(patch(keyOf(event), { status: 'approved', ...answerOf(event.data) }));
    },
    ApprovalDenied: (event: On<'ApprovalDenied'>) => {
      return change(patch(keyOf(event), { status: 'denied', ...answerOf(event.data) }));
    },
    ApprovalExpired: (event: On<'ApprovalExpired'>) =>
      change(patch(keyOf(event), { status: 'expired' })),
    ApprovalConsumed: (event: On<'ApprovalConsumed'>) => {
      const { consumed_at, grant_id } = event.data;
      return change(patch(keyOf(event), { consumed_at, grant_id }));
    },
  },
  apply: {
    on: ['ApprovalRequested', 'ApprovalApproved'],
    run: async (sql, events, { rebuilding, schema }) => {
      await setUseBefore(sql, events, schema);
      if (!rebuilding) await queueNotifications(sql, events);
    },
  },
  onCommitted: (events) => {
    if (events.some(({ type }) => type === 'ApprovalRequested')) wake();
  },
});

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
    status: 'pending',
    ttl_seconds: facts.ttl_seconds,
    binding: facts.binding ?? null,
    created_at: facts.created_at,
    expires_at: facts.expires_at,
    responded_at: null,
    responded_by: null,
    use_before: null,
    consumed_at: null,
    grant_id: null,
  };
}

/** The window stands in the row already; the approval's event only says when it began. */
async function setUseBefore(
  sql: Transaction,
  events: readonly RecordedEvent[],
  schema: string,
): Promise<void> {
  const approved = events.filter(({ type }) => type === 'ApprovalApproved').map(keyOf);
  if (approved.length === 0) return;
  await sql.query(
    `UPDATE ${schema}.requests AS r
     SET use_before = r.responded_at + (r.binding->>'use_window_seconds')::integer * interval '1 s'
     FROM unnest($1::text[], $2::text[]) AS a (tenant_id, id)
     WHERE r.tenant_id = a.tenant_id AND r.id = a.id AND r.binding IS NOT NULL`,
    [approved.map(({ tenant_id }) => tenant_id), approved.map(({ id }) => id)],
  );
}

/** Webhooks hear of a request by its integration event; every other channel is a job here. */
async function queueNotifications(
  sql: Transaction,
  events: readonly RecordedEvent[],
): Promise<void> {
  const jobs = events
    .filter(({ type }) => type === 'ApprovalRequested')
    .flatMap((event) => {
      const { id, tenant_id, user_id, channels, created_at } = event.data as RequestFacts & object;
      return channels
        .filter((channel) => channel !== 'webhook')
        .map((channel) => ({ id, tenant_id, user_id, channel, created_at }));
    });
  if (jobs.length === 0) return;
  await sql.query(
    `INSERT INTO approval.notification_jobs (tenant_id, request_id, channel, user_id, run_at, state)
     SELECT t, r, c, u, at, 'waiting'
     FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[])
       AS j (t, r, c, u, at)
     ON CONFLICT DO NOTHING`,
    [
      jobs.map(({ tenant_id }) => tenant_id),
      jobs.map(({ id }) => id),
      jobs.map(({ channel }) => channel),
      jobs.map(({ user_id }) => user_id),
      jobs.map(({ created_at }) => created_at),
    ],
  );
}
