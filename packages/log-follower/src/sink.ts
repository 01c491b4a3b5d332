/** A sink receives the events of a follower. */
import type { RecordedEvent } from '@cardea/event-store';
import type { Checkpoint } from './checkpoints/checkpoint.ts';
import type { IdleCheckpoints } from './checkpoints/idle-checkpoints.ts';

export type Batch<Prepared> = {
  readonly events: readonly RecordedEvent[];
  readonly prepared: Prepared;
  /** Position of the last event. */
  readonly through: bigint;
  /** Whether there are more events after this batch. */
  readonly isFull: boolean;
};

/**
 * Applies events. `failures.ts` classifies what it throws. After an outage the batch is tried again. Any other failure
 * is attributed to one of the events, which is then set aside.
 */
export interface Sink<Prepared = undefined> {
  /** Reads the checkpoint from the database, because the one in memory may be outdated. */
  load(): Promise<Checkpoint>;
  /** Work on a batch that can be done while the previous one is being applied. */
  prepare?(events: readonly RecordedEvent[], checkpoint: Checkpoint): Promise<Prepared>;
  /**
   * Applies a batch that it does not ignore. Returns true if it wrote its own tables and the checkpoint, atomically, and
   * false if only the checkpoint moves, which `idle` stores later. Effects elsewhere have to be complete before it
   * returns, and have to be repeatable.
   */
  apply(batch: Batch<Prepared>, checkpoint: Checkpoint, signal: AbortSignal): Promise<boolean>;
  /**
   * Parks the stream of an event that failed on its own, and moves the checkpoint to the event, durably. The sink has
   * to skip later events of parked streams.
   */
  setAside(event: RecordedEvent, error: unknown, checkpoint: Checkpoint): Promise<void>;
  /**
   * The types of the events that concern it, unless all do. Over other events only the checkpoint moves, and a resting
   * follower is not woken for them. Sinks with `atEnd` do not have this set.
   */
  readonly types?: ReadonlySet<string>;
  /** Whether every event of a parked stream concerns it, because it records the event. */
  readonly recordsParked?: true;
  /** Stores checkpoints that moved over batches without changes. */
  readonly idle?: IdleCheckpoints;
  /** Called when everything up to the position has taken effect, with the last events. */
  moved?(position: bigint, events: readonly RecordedEvent[]): void;
  /** Called when the log had no further events at the time of the read. */
  atEnd?(askedAtMs: number | undefined): Promise<void> | void;
  /** Waits for work that was started and has not finished. */
  settle?(): Promise<void>;
}
