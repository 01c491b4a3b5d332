import { failpoint, metrics } from '@cardea/runtime';
import { checkSizes } from '../appends/limits.ts';
import {
  type Append,
  type AppendOutcome,
  EventStoreOverloaded,
  EventStoreUnavailable,
  type Log,
} from '../event-store.ts';
import { appendBatch, type Stored, type Written, written } from './append-batch.ts';
import type { Connection } from './connection.ts';

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
      for (const { append } of batch) waitingBytes -= append.bytes;
      void commit(connection, log, batch, watch).finally(() => {
        queue.done(batch);
        idle.push(connection);
        schedule();
      });
    }
  };

  return async (log: Log, appends: readonly Append[]): Promise<readonly AppendOutcome[]> => {
    const all = appends.map(written);
    checkSizes(all, APPEND_BYTES_MAX);
    if (waiting + all.length > QUEUE_APPENDS_MAX || waitingBytes > QUEUE_BYTES_MAX) {
      throw new EventStoreOverloaded('too many appends wait');
    }
    const queue = queues.get(log) ?? appendQueue();
    queues.set(log, queue);
    const outcomes: Promise<AppendOutcome>[] = [];
    for (const append of all) {
      const { promise, resolve, reject } = Promise.withResolvers<AppendOutcome>();
      queue.push({ append, resolve, reject });
      outcomes.push(promise);
      waitingBytes += append.bytes;
    }
    waiting += all.length;
    metrics.appendQueue.set(waiting);
    schedule();
    return Promise.all(outcomes);
  };
}

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
    const appends: Written[] = [];
    let events = 0;
    for (const { append } of part) {
      appends.push(append);
      events += append.events.length;
    }
    const told = watch.isNoticeDue(log);
    const outcomes = await appendBatch(connection, log, appends, { careful, told });
    metrics.appendBatchEvents.observe(events);
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

/** A batch takes its share of the queue, but at least this many appends if there are as many. */
const BATCH_APPENDS_MIN = 32;
const BATCH_EVENTS_MAX = 256;
const BATCH_BYTES_MAX = 1_000_000;
/**
 * With fewer appends a second batch of the log would mostly wait for the first one's lock and then pay for its own
 * flush. They wait for its end instead and form the next batch.
 */
const SECOND_BATCH_APPENDS_MIN = 16;

export type Waiting = {
  readonly append: Written;
  readonly resolve: (outcome: AppendOutcome) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * The waiting appends of one log. A stream is in one batch at a time and its appends keep their order. So an append
 * whose stream is in a running batch is skipped, as are all later ones of that stream.
 */
export function appendQueue() {
  let queue: Waiting[] = [];
  const busyStreams = new Set<string>();
  let inFlight = 0;

  const takeBatch = (connectionsIdle: number): readonly Waiting[] => {
    if (inFlight > 0 && queue.length < SECOND_BATCH_APPENDS_MIN) return [];
    // A single batch with everything would make the connections take turns instead of working in parallel.
    const appendsMax = Math.max(BATCH_APPENDS_MIN, Math.ceil(queue.length / connectionsIdle));
    const batch: Waiting[] = [];
    const left: Waiting[] = [];
    const passedOver = new Set<string>();
    let events = 0;
    let bytes = 0;
    for (const waiting of queue) {
      const { streamId, events: own, bytes: ownBytes } = waiting.append;
      const fits =
        batch.length === 0 ||
        (batch.length < appendsMax &&
          events + own.length <= BATCH_EVENTS_MAX &&
          bytes + ownBytes <= BATCH_BYTES_MAX);
      if (!fits || busyStreams.has(streamId) || passedOver.has(streamId)) {
        left.push(waiting);
        passedOver.add(streamId);
        continue;
      }
      busyStreams.add(streamId);
      batch.push(waiting);
      events += own.length;
      bytes += ownBytes;
    }
    queue = left;
    if (batch.length > 0) inFlight += 1;
    return batch;
  };

  return {
    push: (waiting: Waiting) => void queue.push(waiting),
    takeBatch,
    /** Call it when the batch has ended. Its streams may be written again. */
    done: (batch: readonly Waiting[]) => {
      inFlight -= 1;
      for (const { append } of batch) busyStreams.delete(append.streamId);
    },
  };
}
