/**
 * Sends the mail in a queue, and tries again after growing pauses. The queue is a table of the service. A crash between
 * sending and recording sends a mail twice, but never loses one. Tenants share the concurrent sends, so that no
 * tenant's mail waits for a batch of another's.
 */
import { type Clock, FairShares, type Logger, type WakeSignal } from '@cardea/runtime';
import type { Loop } from '@cardea/service';

/** Concurrent mails. The SMTP transport has a connection for each. */
export const SENDING_MAX = 8;
/** One busy tenant alone gets at most three quarters of the concurrent mails. */
const PER_FREE_PLACE = 3;
/** The number of jobs that are read at once. */
const DUE_MAX = 32;
/** The pause while something is due. A finished job is skipped for that long, because it may still be in the queue. */
const POLL_MS = 1_000;
/** The longest pause. Adding a job wakes the loop, but that call may be lost. */
const REST_MS = 10_000;

export type Outbox<Job extends { readonly attempts: number }> = {
  /** The name of the loop. */
  readonly name: string;
  /**
   * Jobs in the order in which they are sent: first those that are due at `now`, then those that become due before
   * `until`.
   */
  readonly due: (
    period: { readonly now: Date; readonly until: Date },
    limit: number,
  ) => Promise<readonly Job[]>;
  readonly dueAt: (job: Job) => Date;
  readonly tenantOf: (job: Job) => string;
  /** Two jobs never have the same key. */
  readonly keyOf: (job: Job) => string;
  /** Jobs of one line are sent one after another, different lines concurrently. By default each job is a line. */
  readonly lineOf?: (job: Job) => string;
  /** The fields of a job to log, besides its queue and its attempts. */
  readonly loggedOf?: (job: Job) => object;
  /** Sends the mail and removes it from the queue. Throws if it was not sent. */
  readonly send: (job: Job) => Promise<void>;
  /** The pause after each failure. */
  readonly retryAfterMs: readonly number[];
  readonly putOff: (
    job: Job,
    next: { readonly attempts: number; readonly at: Date },
  ) => Promise<void>;
  /** Called after the last pause. Without it the last pause is repeated. */
  readonly giveUp?: (job: Job) => Promise<void>;
  /** Logged once when mail is waiting and nothing can be sent. The mail then stays in the queue. */
  readonly cannotSend?: string | undefined;
};

type Dependencies = {
  readonly clock: Clock;
  readonly log: Logger;
  /** Woken when the queue has a new job. */
  readonly signal: WakeSignal;
};

export function outboxLoop<Job extends { readonly attempts: number }>(
  outbox: Outbox<Job>,
  needs: Dependencies,
): Loop {
  return {
    name: outbox.name,
    leader: true,
    run: async (signal, tick) => {
      const sending = new Sending(outbox, needs, signal);
      let told = false;
      try {
        while (!signal.aborted) {
          tick();
          const now = needs.clock.now();
          const until = new Date(now.getTime() + REST_MS);
          const jobs = await outbox.due({ now, until }, DUE_MAX);
          const due = jobs.filter((job) => outbox.dueAt(job) <= now);
          if (outbox.cannotSend === undefined) sending.send(due);
          else if (due.length > 0 && !told) {
            needs.log.error({}, outbox.cannotSend);
            told = true;
          }
          const later = jobs.filter((job) => outbox.dueAt(job) > now).map(outbox.dueAt);
          const untilNextMs = Math.min(REST_MS, ...later.map((at) => at.getTime() - now.getTime()));
          await needs.signal.rest(due.length > 0 ? POLL_MS : Math.max(untilNextMs, 1), signal);
        }
      } finally {
        await sending.ended();
      }
    },
  };
}

/** The jobs under way, and those that were read with them and wait for a place of their tenant. */
class Sending<Job extends { readonly attempts: number }> {
  readonly #outbox: Outbox<Job>;
  readonly #needs: Dependencies;
  readonly #signal: AbortSignal;
  readonly #places = new FairShares({ places: SENDING_MAX, perFreePlace: PER_FREE_PLACE });
  readonly #lines = new Set<string>();
  readonly #running = new Set<Promise<void>>();
  /** The states of jobs that have begun, and until when a job in the same state must not begin again. */
  readonly #tried = new Map<string, number>();
  #waiting: readonly Job[] = [];
  #isMoreDue = false;

  constructor(outbox: Outbox<Job>, needs: Dependencies, signal: AbortSignal) {
    this.#outbox = outbox;
    this.#needs = needs;
    this.#signal = signal;
  }

  /** `due` replaces jobs that were read before and have not begun. */
  send(due: readonly Job[]): void {
    const nowMs = this.#needs.clock.monotonicMs();
    for (const [state, untilMs] of this.#tried) if (untilMs <= nowMs) this.#tried.delete(state);
    this.#waiting = due.filter((job) => !this.#tried.has(this.#stateOf(job)));
    this.#isMoreDue = due.length === DUE_MAX;
    this.#fill();
  }

  async ended(): Promise<void> {
    await Promise.all(this.#running);
  }

  #fill(): void {
    if (this.#signal.aborted) return;
    this.#waiting = this.#waiting.filter((job) => !this.#begin(job));
  }

  /** Returns false if the job has to wait. */
  #begin(job: Job): boolean {
    const { tenantOf, keyOf, lineOf } = this.#outbox;
    const line = (lineOf ?? keyOf)(job);
    if (this.#lines.has(line)) return false;
    const giveBack = this.#places.take(tenantOf(job));
    if (giveBack === undefined) return false;
    this.#lines.add(line);
    const state = this.#stateOf(job);
    this.#tried.set(state, Number.POSITIVE_INFINITY);
    const running = trySend(this.#outbox, this.#needs, job).then(() => {
      giveBack();
      this.#lines.delete(line);
      this.#tried.set(state, this.#needs.clock.monotonicMs() + POLL_MS);
      this.#running.delete(running);
      this.#fill();
      if (this.#waiting.length === 0 && this.#isMoreDue) this.#needs.signal.wake();
    });
    this.#running.add(running);
    return true;
  }

  #stateOf(job: Job): string {
    const { keyOf, dueAt } = this.#outbox;
    return `${keyOf(job)} ${job.attempts} ${dueAt(job).getTime()}`;
  }
}

/** Never throws, because a job that cannot even be postponed is still in the queue. */
async function trySend<Job extends { readonly attempts: number }>(
  outbox: Outbox<Job>,
  { clock, log }: Dependencies,
  job: Job,
): Promise<void> {
  const { name: queue, retryAfterMs, giveUp } = outbox;
  const logged = { queue, ...outbox.loggedOf?.(job), attempts: job.attempts + 1 };
  try {
    await outbox.send(job);
  } catch (error) {
    const name = error instanceof Error ? error.name : 'unknown';
    const pauseMs = retryAfterMs[job.attempts];
    log.warn({ ...logged, error: name }, 'mail was not sent');
    try {
      if (pauseMs === undefined && giveUp !== undefined) {
        log.error(logged, 'mail was given up');
        await giveUp(job);
        return;
      }
      const at = new Date(clock.now().getTime() + (pauseMs ?? retryAfterMs.at(-1) ?? POLL_MS));
      await outbox.putOff(job, { attempts: logged.attempts, at });
    } catch {
      // The store is unavailable too.
    }
  }
}
