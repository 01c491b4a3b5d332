/** The queue of notifications. The live projection fills it; this module empties it. */
import { type Database, dueInTurns } from '@cardea/read-models';
import type { DeputyNotice } from '../deputies/deputies.module.ts';

export type Job = {
  readonly tenant_id: string;
  readonly request_id: string;
  readonly channel: string;
  readonly user_id: string;
  readonly attempts: number;
  readonly run_at: Date;
  /** `folded`: the user reached the mail limit for this minute and gets one mail about several requests. */
  readonly state: 'waiting' | 'folded';
  /** Set if the mail is about a block after wrong binding codes. Null if it is about a request. */
  readonly blocked_until: Date | null;
  /** Set if the mail is about a deputyship. */
  readonly deputyship: DeputyNotice | null;
};

type Sql = Pick<Database, 'system'>;

const JOB_COLUMNS =
  'tenant_id, request_id, channel, user_id, attempts, state, run_at, blocked_until, deputyship';
const OF_JOB = 'tenant_id = $1 AND request_id = $2 AND channel = $3 AND user_id = $4';
const keyOf = (job: Job) => [job.tenant_id, job.request_id, job.channel, job.user_id];

const DUE_JOBS = dueInTurns({
  table: 'approval.notification_jobs',
  columns: JOB_COLUMNS,
  dueAt: 'run_at',
});

export async function dueJobs(
  { system }: Sql,
  values: readonly [now: Date, until: Date, limit: number],
): Promise<readonly Job[]> {
  return (await system.query<Job>(DUE_JOBS, values)).rows;
}

/** All `folded` jobs of the same user, including this one. */
export async function batchedWith({ system }: Sql, job: Job): Promise<readonly Job[]> {
  const { rows } = await system.query<Job>(
    `SELECT ${JOB_COLUMNS}
     FROM approval.notification_jobs
     WHERE tenant_id = $1 AND user_id = $2 AND channel = $3 AND state = 'folded'`,
    [job.tenant_id, job.user_id, job.channel],
  );
  return rows;
}

export const finish = ({ system }: Sql, job: Job) =>
  system.query(`DELETE FROM approval.notification_jobs WHERE ${OF_JOB}`, keyOf(job));

/** Replaces the job of a set by one job per person in one statement, so that nobody is notified twice. */
export const spread = ({ system }: Sql, job: Job, userIds: readonly string[]) =>
  system.query(
    `WITH gone AS (DELETE FROM approval.notification_jobs WHERE ${OF_JOB} RETURNING *)
     INSERT INTO approval.notification_jobs
       (tenant_id, request_id, channel, user_id, run_at, state)
     SELECT gone.tenant_id, gone.request_id, gone.channel, u, gone.run_at, 'waiting'
     FROM gone, unnest($5::text[]) AS u
     ON CONFLICT DO NOTHING`,
    [...keyOf(job), userIds],
  );

export const fold = ({ system }: Sql, job: Job, runAt: Date) =>
  system.query(
    `UPDATE approval.notification_jobs SET state = 'folded', run_at = $5 WHERE ${OF_JOB}`,
    [...keyOf(job), runAt],
  );

export const putOff = (
  { system }: Sql,
  job: Job,
  { attempts, at }: { readonly attempts: number; readonly at: Date },
) =>
  system.query(`UPDATE approval.notification_jobs SET attempts = $5, run_at = $6 WHERE ${OF_JOB}`, [
    ...keyOf(job),
    attempts,
    at,
  ]);
