/**
 * Maintains table `deputies`, by which requests go to a deputy. The live projection also queues the mails to both
 * persons.
 */
import { projection, type Statement, table } from '@cardea/read-models';
import { type TenantForgotten, tenantRowsDeleted } from '@cardea/service';
import type { DeputyChanged } from './deputy.ts';

export const DEPUTIES_TABLE = 'deputies';

export const deputyRows = table(DEPUTIES_TABLE, {
  key: ['tenant_id', 'user_id'],
  columns: {
    tenant_id: 'text',
    user_id: 'text',
    deputy: 'text',
    from_at: 'timestamptz',
    until_at: 'timestamptz',
  },
});

type Changed = DeputyChanged & {
  readonly streamId: string;
  readonly time: Date;
  readonly metadata: { readonly tenantId: string };
};

/** The content of a mail to one of the two persons. The queue stores it until it is sent. */
export type DeputyNotice = {
  readonly kind: 'named' | 'ended';
  /** Whether the mail goes to the deputy, or to the person in whose place they decide. */
  readonly to: 'person' | 'deputy';
  readonly other: string;
  readonly from: string | null;
  readonly until: string | null;
  readonly at: string;
};

type Job = {
  readonly tenant: string;
  readonly subject: string;
  readonly userId: string;
  readonly notice: DeputyNotice;
};

function jobsOf({ streamId, time, metadata, data }: Changed): readonly Job[] {
  const { user_id: person, deputy, before, from, until } = data;
  const job = (
    userId: string,
    to: DeputyNotice['to'],
    kind: DeputyNotice['kind'],
    other: string,
  ): Job => ({
    tenant: metadata.tenantId,
    subject: streamId,
    userId,
    notice: { kind, to, other, from, until, at: time.toISOString() },
  });
  const jobs: Job[] = [];
  if (before !== null && before !== deputy) jobs.push(job(before, 'deputy', 'ended', person));
  if (deputy !== null) {
    jobs.push(job(deputy, 'deputy', 'named', person), job(person, 'person', 'named', deputy));
  } else if (before !== null) {
    jobs.push(job(person, 'person', 'ended', before));
  }
  return jobs;
}

/** A newer notice replaces one to the same person that still waits, so that notices do not accumulate. */
const QUEUE_NOTICES = {
  name: 'approval_queue_deputy_notices',
  text: `INSERT INTO approval.notification_jobs
           (tenant_id, request_id, channel, user_id, run_at, state, deputyship)
         SELECT t, s, 'email', u, at, 'waiting', notice
         FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::jsonb[])
           AS j (t, s, u, at, notice)
         ON CONFLICT (tenant_id, request_id, channel, user_id)
           DO UPDATE SET deputyship = excluded.deputyship`,
};

function notices(events: readonly Changed[]): readonly Statement[] {
  // One statement cannot replace a row twice.
  const latest = new Map(
    events
      .flatMap(jobsOf)
      .map((job) => [`${job.tenant} ${job.subject} ${job.userId}`, job] as const),
  );
  const jobs = [...latest.values()];
  if (jobs.length === 0) return [];
  const values = [
    jobs.map(({ tenant }) => tenant),
    jobs.map(({ subject }) => subject),
    jobs.map(({ userId }) => userId),
    jobs.map(({ notice }) => notice.at),
    jobs.map(({ notice }) => JSON.stringify(notice)),
  ];
  return [{ ...QUEUE_NOTICES, values }];
}

export const deputiesTable = (wake: () => void) =>
  projection<DeputyChanged | TenantForgotten>()({
    name: DEPUTIES_TABLE,
    log: 'approval',
    tables: [deputyRows],
    on: {
      DeputyChanged: ({ metadata, data }) => {
        const key = { tenant_id: metadata.tenantId, user_id: data.user_id };
        const { deputy, from, until } = data;
        if (deputy === null || from === null || until === null) return [deputyRows.remove(key)];
        return [deputyRows.put({ ...key, deputy, from_at: from, until_at: until })];
      },
    },
    apply: {
      on: ['DeputyChanged', 'TenantForgotten'],
      statements: (events, { rebuilding, schema }) => [
        ...(rebuilding
          ? []
          : notices(events.flatMap((event) => (event.type === 'DeputyChanged' ? [event] : [])))),
        ...tenantRowsDeleted(
          events.flatMap((event) => (event.type === 'TenantForgotten' ? [event] : [])),
          [`${schema}.${DEPUTIES_TABLE}`],
        ),
      ],
    },
    onCommitted: (events) => {
      if (events.some(({ type }) => type === 'DeputyChanged')) wake();
    },
    onAppliedElsewhere: wake,
  });
