/**
 * Sends the mail that waits in a queue, and tries again after growing pauses. The queue is a table of the
 * service; a crash after sending and before recording it sends the mail twice, and loses none.
 */
import type { Clock, Logger, WakeSignal } from '@cardea/runtime';
import type { Loop } from '@cardea/service';

const BATCH_MAX = 16;
/** The pause after a round of work, and the shortest one: what failed may still be in the queue. */
const POLL_MS = 1_000;
/** The longest pause: whoever adds a job wakes the loop, but the call may be lost. */
const REST_MS = 10_000;

export type Outbox<Job extends { readonly attempts: number }> = {
  /** The name of the loop. */
  readonly name: string;
  /** Jobs in the order in which they are sent: those that are due now, then those that are due until then. */
  readonly due: (
    period: { readonly now: Date; readonly until: Date },
    limit: number,
  ) => Promise<readonly Job[]>;
  readonly dueAt: (job: Job) => Date;
  /** Jobs of one line are sent one after another, different lines at the same time. */
  readonly lineOf: (job: Job) => string;
  /** What the log says of a job besides its queue and its attempts. */
  readonly loggedOf?: (job: Job) => object;
  /** Sends the mail and removes it from the queue; throws where it was not sent. */
  readonly send: (job: Job) => Promise<void>;
  /** The pause after each failure. */
  readonly retryAfterMs: readonly number[];
  readonly putOff: (
    job: Job,
    next: { readonly attempts: number; readonly at: Date },
  ) => Promise<void>;
  /** Called after the last pause; without it the last pause is repeated. */
  readonly giveUp?: (job: Job) => Promise<void>;
  /** Logged once when nothing can be sent and mail is waiting; the mail then stays in the queue. */
  readonly cannotSend?: string | undefined;
};

type Dependencies = {
  readonly clock: Clock;
  readonly log: Logger;
  /** Called when the queue has a new job. */
  readonly signal: Pick<WakeSignal, 'rest'>;
};

export function outboxLoop<Job extends { readonly attempts: number }>(
  outbox: Outbox<Job>,
  needs: Dependencies,
): Loop {
  return {
    name: outbox.name,
    leader: true,
    run: async (signal, tick) => {
      let told = false;
      while (!signal.aborted) {
        tick();
        const now = needs.clock.now();
        const until = new Date(now.getTime() + REST_MS);
        const jobs = await outbox.due({ now, until }, BATCH_MAX);
        const due = jobs.filter((job) => outbox.dueAt(job) <= now);
        if (outbox.cannotSend !== undefined && due.length > 0 && !told) {
          needs.log.error({}, outbox.cannotSend);
          told = true;
        }
        const moved = outbox.cannotSend === undefined && (await sendAll(outbox, needs, due));
        if (moved && due.length === BATCH_MAX) continue;
        const later = jobs.filter((job) => outbox.dueAt(job) > now).map(outbox.dueAt);
        const untilNextMs = Math.min(REST_MS, ...later.map((at) => at.getTime() - now.getTime()));
        await needs.signal.rest(due.length > 0 ? POLL_MS : Math.max(untilNextMs, 1), signal);
      }
    },
  };
}

/** True when any of them was removed from the queue or postponed. */
async function sendAll<Job extends { readonly attempts: number }>(
  outbox: Outbox<Job>,
  needs: Dependencies,
  due: readonly Job[],
): Promise<boolean> {
  const lines = Map.groupBy(due, outbox.lineOf);
  const moved = await Promise.all(
    [...lines.values()].map(async (line) => {
      let any = false;
      for (const job of line) any = (await trySend(outbox, needs, job)) || any;
      return any;
    }),
  );
  return moved.includes(true);
}

async function trySend<Job extends { readonly attempts: number }>(
  outbox: Outbox<Job>,
  { clock, log }: Dependencies,
  job: Job,
): Promise<boolean> {
  const { name: queue, retryAfterMs, giveUp } = outbox;
  const logged = { queue, ...outbox.loggedOf?.(job), attempts: job.attempts + 1 };
  try {
    await outbox.send(job);
    return true;
  } catch (error) {
    const name = error instanceof Error ? error.name : 'unknown';
    const pauseMs = retryAfterMs[job.attempts];
    log.warn({ ...logged, error: name }, 'mail was not sent');
    try {
      if (pauseMs === undefined && giveUp !== undefined) {
        log.error(logged, 'mail was given up');
        await giveUp(job);
        return true;
      }
      const at = new Date(clock.now().getTime() + (pauseMs ?? retryAfterMs.at(-1) ?? POLL_MS));
      await outbox.putOff(job, { attempts: logged.attempts, at });
      return true;
    } catch {
      return false; // the store is unavailable too: the job is still in the queue
    }
  }
}
