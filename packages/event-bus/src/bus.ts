import type { IntegrationEvent } from '@cardea/contracts';
import type { Sealed } from '@cardea/crypto';
import type { AnyStream, Log, RecordedEvent } from '@cardea/event-store';
import type { Statement, Transaction } from '@cardea/read-models';
import type { AppliedOffsets } from './consuming/consumer-positions.ts';
import type { LapsedPartition, PartitionEnds } from './partition-ends.ts';

/** An integration event as stored on a topic. */
export type BusRecord = {
  readonly topic: string;
  readonly partition: number;
  /** Rises within a partition. A decimal string. */
  readonly offset: string;
  readonly event: IntegrationEvent;
};

/** Delivers at least once, in order per `tenantId:streamId`. Resolves when all events are durable on the topic. */
export interface Publisher {
  publish(topic: string, events: readonly IntegrationEvent[]): Promise<void>;
  /**
   * Publishes and moves the relay's checkpoint in the same transaction, if the topics are in the checkpoint's database.
   * The transaction is durable, because consumers in another database may have stored the offsets by the time of a
   * crash.
   */
  publishThrough?(
    topic: string,
    events: readonly IntegrationEvent[],
    checkpoint: { readonly log: Log; readonly position: bigint },
  ): Promise<void>;
  /**
   * Returns the first and the next offset of each partition, after all records that were given to this
   * publisher have arrived. A partition without records may be missing. Throws an outage if there is no such
   * topic.
   */
  ends(topic: string): Promise<readonly PartitionEnds[]>;
  close(): Promise<void>;
}

/**
 * Reads topics and applies effects. The effects of a batch and the last position per (topic, partition) commit in one
 * transaction, so each event takes effect once, however often it arrives.
 */
export type Consumer = {
  /** The group's name, e.g. `vault`, under which positions are stored. */
  readonly name: string;
  readonly topics: readonly string[];
  /** Only these types are read, and others are skipped. Undefined means all. */
  readonly types?: readonly string[];
  /** Only events of these types are passed to `prepare`. Undefined means all. */
  readonly preparedTypes?: readonly string[];
  /**
   * Whether an event must be read at once, as far as this process knows. Other events wait a second at most, if the
   * adapter can delay them. If no tenant is given, only the type is known. Undefined means that all events are urgent.
   */
  readonly isUrgent?: (event: { readonly type: string; readonly tenantId?: string }) => boolean;
  /**
   * Only events of these types are passed to `handle` and `statements`. Undefined means all. Other events have taken
   * effect with `prepare`. If nothing else is due their position is stored later, so a crash repeats `prepare`.
   */
  readonly appliedTypes?: readonly string[];
  /**
   * Runs outside of any transaction, before `handle` gets the same events or some of them. Here a consumer waits, reads
   * other tables, decrypts, decides and appends, with command ids derived from the event. It must be repeatable,
   * because it runs again when another process changed the positions in between. When it throws, the event's stream is
   * parked, as when `handle` throws.
   */
  readonly prepare?: (events: readonly IntegrationEvent[]) => Promise<void>;
  /**
   * Applies events in order inside the transaction that also stores the position (role cardea_system). It may use only
   * that transaction's connection: appending, waiting or a second connection belong into `prepare`. When it throws, the
   * stream of the failed event is parked and all other streams continue.
   */
  readonly handle?: (
    events: readonly IntegrationEvent[],
    transaction: Transaction,
  ) => Promise<void>;
  /**
   * Further effects that need no result before the commit. They are sent with the positions, after those of `handle`.
   */
  readonly statements?: (events: readonly IntegrationEvent[]) => readonly Statement[];
  /** Called in this process after the commit, with the results of `statements`. It must not throw. */
  readonly onCommitted?: (
    events: readonly IntegrationEvent[],
    answers: readonly { readonly rowCount: number }[],
  ) => Promise<void> | void;
  /** Called in this process after the commit, with the last applied offsets of the batch's partitions. */
  readonly onMoved?: (offsets: AppliedOffsets) => void;
};

/** A running consumer. */
export interface RunningConsumer {
  stop(): Promise<void>;
}

/** Reads topics: tables in PostgreSQL, or Kafka. */
export interface Subscriber {
  run(consumer: Consumer): Promise<RunningConsumer>;
  /**
   * The position in the source's log up to which the consumer has applied everything that the relay has sent; 0n at
   * first. It is never too high. While records are unread, an adapter may return a lower one than possible.
   */
  appliedThrough(consumer: string, topic: string): Promise<bigint>;
  /** The first and the next offset of each partition of these topics. A partition without records may be missing. */
  ends(topics: readonly string[]): Promise<readonly PartitionEnds[]>;
  /** The offsets that this consumer has applied. Events that wait on parked streams count as applied. */
  applied(consumer: string, topics: readonly string[]): Promise<AppliedOffsets>;
  /** Partitions whose next records the topic lost before this consumer read them. */
  lapsed(consumer: string, topics: readonly string[]): Promise<readonly LapsedPartition[]>;
  /** The number of records of each topic that this consumer has not applied. */
  lag(consumer: string, topics: readonly string[]): Promise<ReadonlyMap<string, number>>;
  close(): Promise<void>;
}

/**
 * Maps a private event to the integration events that the relay publishes: none, one or several, each with type and
 * data. The result depends only on the event and on the state of its stream at that revision.
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
    /** The state of the event's stream, including this event. */
    stateAt(stream: AnyStream): Promise<unknown>;
    /** The stream's events including this one, for streams that are short by design. */
    history(): Promise<readonly RecordedEvent[]>;
  },
) => Promise<Mapped | readonly Mapped[] | undefined> | Mapped | readonly Mapped[] | undefined;

/** Reads a log after its checkpoint, maps, publishes, and then moves the checkpoint. */
export type RelayDefinition = { readonly log: Log; readonly map: RelayMapper };
