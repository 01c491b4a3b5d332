import type { AppendOutcome } from '../event-store.ts';
import type { Written } from './append-batch.ts';

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
