import {
  type Append,
  type AppendOutcome,
  EventStoreOverloaded,
  EventStoreUnavailable,
  type Log,
} from '../event-store.ts';
import { appendBatch, type Written, written } from './append-batch.ts';
import type { Connection } from './connection.ts';

/** A batch takes its share of the queue, but no fewer appends than this. */
const BATCH_APPENDS_MIN = 32;
const BATCH_EVENTS_MAX = 256;
const BATCH_BYTES_MAX = 1_000_000;
/** One append alone; more is a bug. */
const APPEND_EVENTS_MAX = 1000;
const APPEND_BYTES_MAX = 8_000_000;
/** Appends that wait in this process, all logs together; more are refused at once. */
const QUEUE_APPENDS_MAX = 4096;
const QUEUE_BYTES_MAX = 64_000_000;

type Waiting = {
  readonly append: Written;
  readonly resolve: (outcome: AppendOutcome) => void;
  readonly reject: (error: unknown) => void;
};

export type Watch = {
  /** After a commit that stored something; the position of its last event. */
  readonly onStored: (log: Log, position: bigint) => void;
  /** Around each transaction, for fail points. */
  readonly beforeCommit: () => Promise<void> | void;
  readonly afterCommit: () => Promise<void> | void;
};

/**
 * Appends of one process share transactions: whatever was asked for in one turn of the event loop goes
 * together. Nothing waits for a timer. Each connection carries one batch; a stream is in one batch at
 * a time, and its appends keep their order.
 */
export function groupCommit(connections: readonly Connection[], watch: Watch) {
  const queues = new Map<Log, Waiting[]>();
  const idle = [...connections];
  const busyStreams = new Set<string>();
  let waiting = 0;
  let waitingBytes = 0;
  let scheduled = false;

  const schedule = () => {
    if (scheduled || waiting === 0 || idle.length === 0) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      flush();
    });
  };

  const flush = () => {
    for (const [log, queue] of queues) {
      // A log that was served goes to the end of the line.
      const connection = idle.pop();
      if (connection === undefined) return;
      const batch = takeBatch(log, queue, Math.ceil(queue.length / (idle.length + 1)));
      if (batch.length === 0) {
        idle.push(connection);
        continue;
      }
      queues.delete(log);
      queues.set(log, queue);
      void carryOut(connection, log, batch);
    }
  };

  const takeBatch = (log: Log, queue: Waiting[], share: number): readonly Waiting[] => {
    const appendsMax = Math.max(BATCH_APPENDS_MIN, share);
    const batch: Waiting[] = [];
    const left: Waiting[] = [];
    const skipped = new Set<string>(); // what waits for its stream must not be overtaken
    let events = 0;
    let bytes = 0;
    for (const each of queue) {
      const { append } = each;
      const stream = `${log} ${append.streamId}`;
      const fits =
        batch.length === 0 ||
        (batch.length < appendsMax &&
          events + append.events.length <= BATCH_EVENTS_MAX &&
          bytes + append.bytes <= BATCH_BYTES_MAX);
      if (!fits || busyStreams.has(stream) || skipped.has(stream)) {
        left.push(each);
        skipped.add(stream);
        continue;
      }
      busyStreams.add(stream);
      batch.push(each);
      events += append.events.length;
      bytes += append.bytes;
    }
    queue.splice(0, queue.length, ...left);
    waiting -= batch.length;
    waitingBytes -= bytes;
    return batch;
  };

  const carryOut = async (connection: Connection, log: Log, batch: readonly Waiting[]) => {
    try {
      await commit(connection, log, batch, watch);
    } finally {
      for (const { append } of batch) busyStreams.delete(`${log} ${append.streamId}`);
      idle.push(connection);
      schedule();
    }
  };

  const enqueue = (log: Log, append: Written): Promise<AppendOutcome> =>
    new Promise((resolve, reject) => {
      const queue = queues.get(log) ?? [];
      queues.set(log, queue);
      queue.push({ append, resolve, reject });
      waiting++;
      waitingBytes += append.bytes;
      schedule();
    });

  return async (log: Log, appends: readonly Append[]): Promise<readonly AppendOutcome[]> => {
    const all = appends.map(written);
    if (waiting + all.length > QUEUE_APPENDS_MAX || waitingBytes > QUEUE_BYTES_MAX) {
      throw new EventStoreOverloaded('too many appends wait');
    }
    if (all.some((append) => append.events.length > APPEND_EVENTS_MAX)) {
      throw new RangeError(`an append carries ${APPEND_EVENTS_MAX} events at most`);
    }
    if (all.some((append) => append.bytes > APPEND_BYTES_MAX)) {
      throw new RangeError(`an append carries ${APPEND_BYTES_MAX} bytes at most`);
    }
    return Promise.all(all.map((append) => enqueue(log, append)));
  };
}

/** Settles every append of the batch. One that fails the whole batch is found by sending each alone. */
async function commit(
  connection: Connection,
  log: Log,
  batch: readonly Waiting[],
  watch: Watch,
): Promise<void> {
  const send = async (part: readonly Waiting[], careful: boolean) => {
    await watch.beforeCommit();
    const appends = part.map(({ append }) => append);
    const outcomes = await appendBatch(connection, log, appends, careful);
    await watch.afterCommit();
    settle(log, part, outcomes, watch);
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

function settle(
  log: Log,
  batch: readonly Waiting[],
  outcomes: readonly AppendOutcome[],
  watch: Watch,
): void {
  let stored: bigint | undefined;
  for (const [index, outcome] of outcomes.entries()) {
    batch[index]?.resolve(outcome);
    if (outcome.appended && !outcome.repeated) stored = outcome.position;
  }
  if (stored !== undefined) watch.onStored(log, stored);
}
