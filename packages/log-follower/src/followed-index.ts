/**
 * An index in memory as a sink. Every process follows separately, from the position that `start` returns, and stores
 * nothing. An event that cannot be applied sets its stream aside for the lifetime of the process, like the projection
 * of the same log, which parks it.
 */
import type { EventStore, RecordedEvent } from '@cardea/event-store';
import type { Clock, Logger, LoopWatch } from '@cardea/runtime';
import type { Checkpoint } from './checkpoints/checkpoint.ts';
import { LogFollower } from './follower.ts';
import { openLogReader } from './log-reader.ts';
import type { Sink } from './sink.ts';
import { waiters } from './waiters.ts';

/** How often the server is asked for further events if freshness is measured by it. */
const LOOK_MS = 1000;
/** The pause between two reads if freshness is not measured. */
const REST_MS = 10_000;
/** A timer may end this much early. */
const TIMER_SLACK_MS = 10;
const WAITERS_MAX = 10_000;

export type FollowedIndexDependencies = {
  readonly name: string;
  readonly store: EventStore;
  readonly clock: Clock;
  readonly log: Logger;
  /** Returns the position of the index before the first event. It is called until it succeeds once. */
  readonly start: () => Promise<bigint>;
  /** Returns a promise that has to settle before events are applied. Undefined if there is none. */
  readonly heldBy?: () => Promise<unknown> | undefined;
  readonly take: (event: RecordedEvent) => void;
  /** Called when the server was asked and the log had no further events. */
  readonly atEnd?: (askedAtMs: number) => Promise<void>;
};

export interface FollowedIndex {
  /** All events up to this position were applied; -1 before the start. */
  readonly position: bigint;
  /** Starts the index, for callers that need it before `run`. */
  begin(): Promise<void>;
  /** Resolves with true if everything up to the position was applied within the time. */
  reached(position: bigint, timeoutMs: number): Promise<boolean>;
  /** Runs until the signal aborts. */
  run(signal: AbortSignal, watch: Pick<LoopWatch, 'tick' | 'degraded'>): Promise<void>;
}

export function followedIndex(needs: FollowedIndexDependencies): FollowedIndex {
  const { store, clock, name, log } = needs;
  const waiting = waiters(clock, WAITERS_MAX);
  const parked: Checkpoint['parked'] = new Map();
  let position = -1n;

  const begin = async (): Promise<void> => {
    if (position < 0n) position = await needs.start();
  };
  const sink: Sink = {
    load: async () => {
      await begin();
      return { position, epoch: 0n, parked };
    },
    apply: async ({ events, through }) => {
      for (let held = needs.heldBy?.(); held !== undefined; held = needs.heldBy?.()) await held;
      for (const event of events) {
        if (event.position <= position) continue;
        if (!parked.has(event.streamId)) needs.take(event);
        position = event.position;
      }
      if (through > position) position = through;
      return true;
    },
    // The checkpoint is only in memory.
    setAside: async (event) => {
      parked.set(event.streamId, event.position);
      position = event.position;
    },
    moved: () => waiting.moved(),
    atEnd: async (askedAtMs) => {
      if (askedAtMs !== undefined) await needs.atEnd?.(askedAtMs);
    },
  };

  return {
    get position() {
      return position;
    },
    begin,
    reached: (wanted, timeoutMs) => waiting.until(() => position >= wanted, timeoutMs),
    run: async (signal, watch) => {
      const idleWaitMs = needs.atEnd === undefined ? REST_MS : LOOK_MS;
      const asksServerMs = idleWaitMs - TIMER_SLACK_MS;
      const reader = await openLogReader(store, store.log, { clock, asksServerMs });
      const by = { name, reader, clock, log, watch, idleWaitMs };
      await new LogFollower(sink, by).run(signal);
      await reader.close();
    },
  };
}
