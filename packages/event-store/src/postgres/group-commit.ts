import { failpoint, metrics } from '@cardea/runtime';
import { checkSizes } from '../appends/append-sizes.ts';
import {
  type Append,
  type AppendOutcome,
  EventStoreOverloaded,
  EventStoreUnavailable,
  type Log,
} from '../event-store.ts';
import { appendBatch, type Written, written } from './append-batch.ts';
import { appendQueue, type Waiting } from './append-queue.ts';
import type { Connection } from './connection.ts';
import type { Stored } from './stored-events.ts';

/** The maximum size of one append. More would be a bug. */
const APPEND_BYTES_MAX = 8_000_000;
/** Appends that wait in this process, over all logs. More are refused at once. */
const QUEUE_APPENDS_MAX = 4096;
const QUEUE_BYTES_MAX = 64_000_000;

export type Watch = {
  /**
   * Called after a commit that stored something, with the events in the order of the log, and whether the commit has
   * notified other processes.
   */
  readonly onStored: (log: Log, stored: readonly Stored[], told: boolean) => void;
  /** Whether the next commit should notify other processes. */
  readonly isNoticeDue: (log: Log) => boolean;
};

/**
 * Appends of one process share transactions: those of one turn of the event loop are batched. Nothing waits for a
 * timer. Each connection runs one batch at a time.
 */
export function groupCommit(connections: readonly Connection[], watch: Watch) {
  const queues = new Map<Log, ReturnType<typeof appendQueue>>();
  const idle = [...connections];
  let waiting = 0;
  let waitingBytes = 0;
  let scheduled = false;

  const schedule = () => {
    if (scheduled || waiting === 0 || idle.length === 0) return;
    scheduled = true;
    setImmediate(flush);
  };

  const flush = () => {
    scheduled = false;
    for (const [log, queue] of queues) {
      const connection = idle.pop();
      if (connection === undefined) return;
      const batch = queue.takeBatch(idle.length + 1);
      if (batch.length === 0) {
        idle.push(connection);
        continue;
      }
      queues.delete(log); // Moves the log's queue to the end of the order, where this loop reaches it again.
      queues.set(log, queue);
      waiting -= batch.length;
      metrics.appendQueue.set(waiting);
      waitingBytes -= bytesOf(batch);
      void commit(connection, log, batch, watch).finally(() => {
        queue.done(batch);
        idle.push(connection);
        schedule();
      });
    }
  };

  const enqueue = (log: Log, append: Written): Promise<AppendOutcome> =>
    new Promise((resolve, reject) => {
      const queue = queues.get(log) ?? appendQueue();
      queues.set(log, queue);
      queue.push({ append, resolve, reject });
      waiting++;
      metrics.appendQueue.set(waiting);
      waitingBytes += append.bytes;
      schedule();
    });

  return async (log: Log, appends: readonly Append[]): Promise<readonly AppendOutcome[]> => {
    const all = appends.map(written);
    checkSizes(all, APPEND_BYTES_MAX);
    if (waiting + all.length > QUEUE_APPENDS_MAX || waitingBytes > QUEUE_BYTES_MAX) {
      throw new EventStoreOverloaded('too many appends wait');
    }
    return Promise.all(all.map((append) => enqueue(log, append)));
  };
}

const bytesOf = (batch: readonly Waiting[]): number =>
  batch.reduce((sum, { append }) => sum + append.bytes, 0);

const eventsOf = (appends: readonly Written[]): number =>
  appends.reduce((sum, { events }) => sum + events.length, 0);

/**
 * Settles every append of the batch. If one of them makes the whole batch fail, it is found by sending each separately.
 */
async function commit(
  connection: Connection,
  log: Log,
  batch: readonly Waiting[],
  watch: Watch,
): Promise<void> {
  const send = async (part: readonly Waiting[], careful: boolean) => {
    await failpoint('append.before_commit');
    const appends = part.map(({ append }) => append);
    const told = watch.isNoticeDue(log);
    const outcomes = await appendBatch(connection, log, appends, { careful, told });
    metrics.appendBatchEvents.observe(eventsOf(appends));
    await failpoint('append.after_commit');
    const stored = settle(part, outcomes);
    if (stored.length > 0) watch.onStored(log, stored, told);
  };

  try {
    await send(batch, false);
  } catch (error) {
    if (error instanceof EventStoreUnavailable) {
      for (const { reject } of batch) reject(error);
      return;
    }
    for (const each of batch) await send([each], true).catch(each.reject);
  }
}

/** Returns the events that this batch stored. */
function settle(batch: readonly Waiting[], outcomes: readonly AppendOutcome[]): readonly Stored[] {
  const stored: Stored[] = [];
  for (const [index, { append, resolve }] of batch.entries()) {
    const outcome = outcomes[index];
    if (outcome === undefined) throw new Error('the append function answered too few outcomes');
    resolve(outcome);
    if (outcome.appended && !outcome.repeated) stored.push({ append, ...outcome });
  }
  return stored;
}
