/** The queue of channel messages, and the state of each channel. The live projection of requests fills the queue. */
import type { Sealed } from '@cardea/crypto';
import { type Database, type Queryable, rowStatements, table } from '@cardea/read-models';
import { WAITING_PER_CHANNEL_MAX } from '../requests/requests.module.ts';
import type { ChannelFormat } from './channel.ts';
import { SENDS_PER_TENANT_MAX } from './limits.ts';

type Sql = Pick<Database, 'system'>;

export type ChannelKey = { readonly tenantId: string; readonly id: string };

/** The value in the request-id column for a test message. At most one test message per channel waits. */
export const TEST_JOB = 'test';

/**
 * Finds channels that have messages and may send now. The first channel of each tenant comes before the second of any.
 * Each pair of tenant and channel costs one primary-key lookup, however many messages wait for it.
 */
const DUE_CHANNELS = `
  WITH RECURSIVE waiting (tenant_id, channel_id) AS (
    (SELECT tenant_id, channel_id FROM approval.channel_jobs
     ORDER BY tenant_id, channel_id LIMIT 1)
    UNION ALL
    SELECT later.tenant_id, later.channel_id FROM waiting CROSS JOIN LATERAL (
      SELECT j.tenant_id, j.channel_id FROM approval.channel_jobs j
      WHERE (j.tenant_id, j.channel_id) > (waiting.tenant_id, waiting.channel_id)
      ORDER BY j.tenant_id, j.channel_id LIMIT 1
    ) AS later
  ), due AS (
    SELECT w.tenant_id, w.channel_id, s.next_at,
      row_number() OVER (PARTITION BY w.tenant_id ORDER BY s.next_at NULLS FIRST) AS turn
    FROM waiting w
    LEFT JOIN approval.channel_states s ON s.tenant_id = w.tenant_id AND s.channel_id = w.channel_id
    WHERE (s.next_at IS NULL OR s.next_at <= $1)
      AND w.channel_id <> ALL($2::text[]) AND w.tenant_id <> ALL($3::text[])
  )
  SELECT tenant_id AS "tenantId", channel_id AS id FROM due
  WHERE turn <= ${SENDS_PER_TENANT_MAX}
  ORDER BY turn, next_at NULLS FIRST LIMIT $4`;

export async function dueChannels(
  { system }: Sql,
  now: Date,
  busy: {
    readonly channels: readonly string[];
    readonly tenants: readonly string[];
    readonly limit: number;
  },
): Promise<readonly ChannelKey[]> {
  const values = [now, busy.channels, busy.tenants, busy.limit];
  return (await system.query<ChannelKey>(DUE_CHANNELS, values)).rows;
}

export type ChannelTarget = {
  readonly name: string;
  readonly format: ChannelFormat;
  readonly url: Sealed;
  readonly token: Sealed | null;
  readonly enabled: boolean;
};

/** Returns undefined if the channel was deleted. */
export async function channelTarget(
  { system }: Sql,
  { tenantId, id }: ChannelKey,
): Promise<ChannelTarget | undefined> {
  const { rows } = await system.query<ChannelTarget>(
    `SELECT name, format, url, token, enabled FROM approval.channels
     WHERE tenant_id = $1 AND id = $2`,
    [tenantId, id],
  );
  return rows[0];
}

export type WaitingJob = { readonly request_id: string; readonly open: boolean };

/** A test message comes first, then messages with the fewest attempts, then the oldest. */
export async function waitingJobs(
  { system }: Sql,
  { tenantId, id }: ChannelKey,
  now: Date,
): Promise<readonly WaitingJob[]> {
  const { rows } = await system.query<WaitingJob>(
    `SELECT j.request_id, coalesce(r.status = 'pending' AND r.expires_at > $3, false) AS open
     FROM approval.channel_jobs j
     LEFT JOIN approval.requests r ON r.tenant_id = j.tenant_id AND r.id = j.request_id
     WHERE j.tenant_id = $1 AND j.channel_id = $2
     ORDER BY j.request_id <> '${TEST_JOB}', j.attempts, j.run_at
     LIMIT ${WAITING_PER_CHANNEL_MAX}`,
    [tenantId, id, now],
  );
  return rows;
}

const OF_JOBS = 'tenant_id = $1 AND channel_id = $2 AND request_id = ANY($3::text[])';

export const finishJobs = (
  { system }: Sql,
  { tenantId, id }: ChannelKey,
  requestIds: readonly string[],
) => system.query(`DELETE FROM approval.channel_jobs WHERE ${OF_JOBS}`, [tenantId, id, requestIds]);

/** The messages stay in the queue, after messages with fewer attempts. */
export const countAttempt = (
  { system }: Sql,
  { tenantId, id }: ChannelKey,
  requestIds: readonly string[],
) =>
  system.query(`UPDATE approval.channel_jobs SET attempts = attempts + 1 WHERE ${OF_JOBS}`, [
    tenantId,
    id,
    requestIds,
  ]);

export const dropJobs = ({ system }: Sql, { tenantId, id }: ChannelKey) =>
  system.query('DELETE FROM approval.channel_jobs WHERE tenant_id = $1 AND channel_id = $2', [
    tenantId,
    id,
  ]);

/** The number of consecutive failures. It is 0 after an accepted message. */
export async function failuresOf({ system }: Sql, { tenantId, id }: ChannelKey): Promise<number> {
  const { rows } = await system.query<{ failures: number }>(
    'SELECT failures FROM approval.channel_states WHERE tenant_id = $1 AND channel_id = $2',
    [tenantId, id],
  );
  return rows[0]?.failures ?? 0;
}

/** If `error` is null, the message was accepted. A channel that was deleted in between gets no row. */
export const recordAttempt = (
  { system }: Sql,
  { tenantId, id }: ChannelKey,
  of: {
    readonly at: Date;
    readonly nextAt: Date;
    readonly failures: number;
    readonly error: string | null;
  },
) =>
  system.query(
    `INSERT INTO approval.channel_states AS s
       (tenant_id, channel_id, attempted_at, next_at, failures, last_error, last_sent_at)
     SELECT c.tenant_id, c.id, $3::timestamptz, $4::timestamptz, $5::integer, $6::text,
            CASE WHEN $6::text IS NULL THEN $3::timestamptz END
     FROM approval.channels c WHERE c.tenant_id = $1 AND c.id = $2
     ON CONFLICT (tenant_id, channel_id) DO UPDATE SET
       attempted_at = excluded.attempted_at, next_at = excluded.next_at,
       failures = excluded.failures, last_error = excluded.last_error,
       last_sent_at = coalesce(excluded.last_sent_at, s.last_sent_at)`,
    [tenantId, id, of.at, of.nextAt, of.failures, of.error],
  );

const jobs = table('channel_jobs', {
  key: ['tenant_id', 'channel_id', 'request_id'],
  columns: { tenant_id: 'text', channel_id: 'text', request_id: 'text', run_at: 'timestamptz' },
});

/** Queues a test message, unless one is waiting already. */
export function queueTest(
  database: Pick<Database, 'asTenantAtOnce'>,
  { tenantId, id }: ChannelKey,
  now: Date,
) {
  const row = { tenant_id: tenantId, channel_id: id, request_id: TEST_JOB, run_at: now };
  const statements = rowStatements({ schema: 'approval', tables: [jobs] }, [jobs.insert(row)]);
  return database.asTenantAtOnce(tenantId, statements);
}

/** Ends the pause after failures. The second between two messages remains. */
export const tryAtOnce = (sql: Queryable, { tenantId, id }: ChannelKey) =>
  sql.query(
    `UPDATE approval.channel_states
     SET failures = 0, next_at = least(next_at, attempted_at + interval '1 second')
     WHERE tenant_id = $1 AND channel_id = $2`,
    [tenantId, id],
  );
