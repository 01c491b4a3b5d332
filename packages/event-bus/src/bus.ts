import type { IntegrationEvent } from '@cardea/contracts';
import type { Sealed } from '@cardea/crypto';
import type { Log, RecordedEvent } from '@cardea/event-store';
import type { Transaction } from '@cardea/read-models';
import type { AppliedOffsets } from './consuming/consumer-positions.ts';
import type { PartitionEnds } from './partition-ends.ts';

/** An integration event as it lies on a topic. */
export type BusRecord = {
  readonly topic: string;
  readonly partition: number;
  /** Grows within a partition; decimal string. */
  readonly offset: string;
  readonly event: IntegrationEvent;
};

/** At least once, in order per `tenantId:streamId`. Resolves when all are durable on the topic. */
export interface Publisher {
  publish(topic: string, events: readonly IntegrationEvent[]): Promise<void>;
  close(): Promise<void>;
}

/**
 * Reads topics and applies effects. The effects of a batch and the last position per (topic,
 * partition) commit in one transaction, so each event takes effect once, however often it arrives.
 */
export type Consumer = {
  /** Group name, e.g. `vault`; positions are kept under it. */
  readonly name: string;
  readonly topics: readonly string[];
  /** Only these types reach `handle`; undefined = all. */
  readonly types?: readonly string[];
  /**
   * Outside of any transaction, before `handle` gets the same events or some of them: waits, looks up, opens
   * keys, decides and appends, under command ids derived from the event. It must be repeatable, for it is
   * called again when another process got between. A throw parks as one of `handle` does.
   */
  readonly prepare?: (events: readonly IntegrationEvent[]) => Promise<void>;
  /**
   * Applies events in order inside the transaction that also stores the position (role cardea_system), by
   * that transaction's connection alone: a second one, an append or a wait belongs to `prepare`.
   * A throw parks the guilty event's stream and lets the others flow.
   */
  readonly handle: (events: readonly IntegrationEvent[], transaction: Transaction) => Promise<void>;
  /** Called in this process after the commit. */
  readonly onCommitted?: (events: readonly IntegrationEvent[]) => void;
  /** Called in this process after the commit: how far the partitions of the batch have come. */
  readonly onMoved?: (offsets: AppliedOffsets) => void;
};

/** A consumer at work. */
export interface RunningConsumer {
  stop(): Promise<void>;
}

/** A place that topics are read from: Postgres tables or Kafka. */
export interface Subscriber {
  run(consumer: Consumer): Promise<RunningConsumer>;
  /**
   * Up to this position of the source's log the consumer has applied all that the relay has sent; 0n at
   * first. Never too high; while records wait, an adapter may answer lower than it could.
   */
  appliedThrough(consumer: string, topic: string): Promise<bigint>;
  /** Where the partitions of these topics begin and end now; one that was never written may be missing. */
  ends(topics: readonly string[]): Promise<readonly PartitionEnds[]>;
  /** How far this consumer has come; what waits on parked streams counts as applied. */
  applied(consumer: string, topics: readonly string[]): Promise<AppliedOffsets>;
  /** Records of each topic that this consumer has not applied. */
  lag(consumer: string, topics: readonly string[]): Promise<ReadonlyMap<string, number>>;
  close(): Promise<void>;
}

/**
 * What the relay makes of a private event: an integration event's type and data, several, or nothing.
 * It gets the event and its own stream folded to that revision, and nothing else.
 */
export type Mapped = {
  readonly type: string;
  readonly schemaVersion?: number;
  readonly data: object;
};
export type RelayMapper = (
  event: RecordedEvent,
  tools: {
    open(
      sealed: Sealed,
      place: { readonly streamId: string; readonly field: string },
    ): Promise<string | null>;
    /** The stream's events up to and with this one. */
    history(): Promise<readonly RecordedEvent[]>;
  },
) => Promise<Mapped | readonly Mapped[] | undefined> | Mapped | readonly Mapped[] | undefined;

/** Reads a log after its checkpoint, maps, publishes, then moves the checkpoint. */
export type RelayDefinition = { readonly log: Log; readonly map: RelayMapper };
