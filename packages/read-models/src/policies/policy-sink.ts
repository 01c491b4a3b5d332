/**
 * A policy as a sink of its service's log: events in, commands out. It handles streams concurrently, and the events of
 * one stream in order. Handling is repeatable, so its position is stored late, as for ignored events. A parked event is
 * stored together with the position.
 *
 * A command depends on the state of other streams, which may change a moment later. A failure that is attributed to the
 * event is therefore retried a few times before it parks the stream. A mapping depends on its event alone, so the other
 * sinks park at once.
 */
import type { RecordedEvent } from '@cardea/event-store';
import {
  backOff,
  type Checkpoint,
  type CheckpointOf,
  type IdleCheckpoints,
  isOutage,
  loadCheckpoint,
  moveCheckpoint,
  type ParkedEvent,
  parkedEvent,
  type Sink,
} from '@cardea/log-follower';
import type { Database } from '@cardea/postgres';
import type { Clock, Logger, LoopWatch } from '@cardea/runtime';
import { errorCode } from '@cardea/runtime';

const CONCURRENCY_MAX = 8;
const FAILURES_MAX = 5;

/** Has the same form as a service's own type `Policy`. */
export type EventPolicy = {
  readonly name: string;
  /** Types of the service's own private events that it handles. */
  readonly on: readonly string[];
  /**
   * Must be repeatable, also seconds later: derive command ids from the event's id, and decide on the state as it is.
   * An exception parks the event's stream.
   */
  readonly handle: (event: RecordedEvent) => Promise<void>;
};

export type PolicySinkOptions = {
  readonly policy: EventPolicy;
  readonly of: CheckpointOf;
  readonly database: Database;
  readonly idle: IdleCheckpoints;
  readonly watch: LoopWatch;
  readonly clock: Clock;
  readonly log: Logger;
};

export function policySink(options: PolicySinkOptions): Sink {
  const { policy, of, database, idle } = options;
  const types = new Set(policy.on);
  return {
    load: () => loadCheckpoint(database.system, of),
    apply: async ({ events, through }, checkpoint, signal) => {
      const mine = events.filter(({ type }) => types.has(type));
      const parked = await handleAll(options, mine, { checkpoint, signal });
      if (parked.length === 0) return false;
      await moveCheckpoint(database.system, { of, checkpoint }, through, parked);
      return true;
    },
    setAside: (event, error, checkpoint) => {
      const parked = [parkedEvent(event, errorCode(error))];
      return moveCheckpoint(database.system, { of, checkpoint }, event.position, parked);
    },
    types,
    idle,
  };
}

type During = { readonly checkpoint: Checkpoint; readonly signal: AbortSignal };

/** Returns the events to park. Throws when it was stopped before its end. The next leader repeats the batch. */
async function handleAll(
  options: PolicySinkOptions,
  events: readonly RecordedEvent[],
  during: During,
): Promise<readonly ParkedEvent[]> {
  const streams = [...Map.groupBy(events, (event) => event.streamId).values()];
  const parked: ParkedEvent[] = [];
  const work = async (): Promise<void> => {
    for (let stream = streams.shift(); stream !== undefined; stream = streams.shift()) {
      parked.push(...(await handleStream(options, stream, during)));
    }
  };
  const workers = Array.from({ length: Math.min(CONCURRENCY_MAX, streams.length) }, work);
  await Promise.allSettled(workers);
  during.signal.throwIfAborted();
  await Promise.all(workers);
  return parked;
}

async function handleStream(
  options: PolicySinkOptions,
  events: readonly RecordedEvent[],
  during: During,
): Promise<readonly ParkedEvent[]> {
  const parked: ParkedEvent[] = [];
  for (const event of events) {
    if (during.checkpoint.parked.has(event.streamId) || parked.length > 0) {
      parked.push(parkedEvent(event, null));
      continue;
    }
    const code = await handle(options, event, during.signal);
    if (code !== undefined) parked.push(parkedEvent(event, code));
  }
  return parked;
}

/** Waits here until an outage ends, however long, so that the rest of the batch need not be repeated. */
async function handle(
  { policy, watch, clock, log }: PolicySinkOptions,
  event: RecordedEvent,
  signal: AbortSignal,
): Promise<string | undefined> {
  const failing = backOff({ clock, log });
  for (let failures = 0; ; ) {
    signal.throwIfAborted();
    try {
      await policy.handle(event);
      failing.over();
      return undefined;
    } catch (error) {
      const reason = failing.failed(error);
      if (isOutage(error)) watch.degraded(reason);
      else failures += 1;
      if (failures === FAILURES_MAX) {
        const code = errorCode(error);
        const fields = { stream_id: event.streamId, event_type: event.type, code };
        log.error(fields, 'stream parked');
        return code;
      }
    }
    watch.tick();
    await failing.pause(signal);
  }
}
