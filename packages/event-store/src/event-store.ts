import type { ActorType, JsonObject, ServiceName } from '@cardea/contracts';
import type { Sealed } from '@cardea/crypto';
import { Outage } from '@cardea/runtime';

/** One service's log: totally ordered, and private to that service. */
export type Log = ServiceName;

export type DomainEvent = { readonly type: string; readonly data: object };

/** Who did it and how it came about. Stands beside every event; `ip` and `userAgent` are sealed. */
export type EventMetadata = {
  readonly tenantId: string;
  readonly actor: { readonly type: ActorType; readonly id: string };
  /** The agent behind a user's token. */
  readonly agentId?: string;
  readonly appId?: string;
  /** The caller's own word, in a header, and not that of its key or session. */
  readonly appClaimed?: true;
  readonly requestId?: string;
  readonly traceparent?: string;
  readonly causationId?: string;
  readonly correlationId?: string;
  readonly ip?: Sealed;
  readonly userAgent?: Sealed;
};

export type NewEvent = {
  /** UUID, unique in the log: the same id twice is the same event. */
  readonly id: string;
  readonly type: string;
  readonly schemaVersion: number;
  readonly time: Date;
  readonly data: JsonObject;
  readonly metadata: EventMetadata;
};

export type RecordedEvent = NewEvent & {
  readonly log: Log;
  readonly streamId: string;
  /** 1 for the first event of a stream. */
  readonly revision: number;
  /** The version that it was recorded in, where that is older than `schemaVersion`, in which `data` is read. */
  readonly recordedVersion?: number;
  /** Place in the log. Compared, never added to: only one adapter's are dense. */
  readonly position: bigint;
};

/** Revision that the stream must be at; 0 = must not exist. */
export type ExpectedRevision = number | 'any';

export type Append = {
  readonly streamId: string;
  readonly expected: ExpectedRevision;
  /** 1 or more; all or none are stored. */
  readonly events: readonly NewEvent[];
};

export type AppendOutcome =
  | {
      readonly appended: true;
      /** Position and revision of the last event. */
      readonly position: bigint;
      readonly revision: number;
      /** True when these event ids stood there already and nothing was stored now. */
      readonly repeated: boolean;
    }
  | { readonly appended: false; readonly actualRevision: number };

/**
 * A service's access to the log it owns (writing) and to any log (reading). Appends are durable when
 * answered. Order of positions = order of commits = order in which readers see them: whoever has read
 * position p has missed nothing below p.
 */
export interface EventStore {
  readonly log: Log;
  /** Each append stands or falls alone; the outcomes come in the order of the appends. */
  append(appends: readonly Append[]): Promise<readonly AppendOutcome[]>;
  /** Events of a stream in order, from revision `from` (1) on; empty when there is none. */
  readStream(streamId: string, from?: number): Promise<readonly RecordedEvent[]>;
  readLast(streamId: string): Promise<RecordedEvent | undefined>;
  /** Up to `limit` events behind `after`, in order. */
  readLog(log: Log, after: bigint, limit: number): Promise<readonly RecordedEvent[]>;
  /**
   * As `readLog`, for whoever a subscription wakes: what this process appended may be answered without
   * asking the server, while what others appended is there once the subscriber was woken for it.
   */
  followLog(log: Log, after: bigint, limit: number): Promise<readonly RecordedEvent[]>;
  /** Position of the last event, 0n when empty. */
  head(log: Log): Promise<bigint>;
  /**
   * Calls `onAppend` soon after something was appended to the log, by any process (in-process at once,
   * else by a notice or a poll of at most a second). May call for nothing; never misses for longer.
   */
  subscribe(log: Log, onAppend: () => void): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** How one kind of stream is named, started, replayed. */
export type Stream<State, E extends DomainEvent> = {
  /** No hyphen in it; the stream of `id` is `<noun>-<id>`. */
  readonly noun: string;
  readonly initial: State;
  readonly evolve: (state: State, event: E) => State;
  /** True when each event carries the whole state and only the last one is loaded. */
  readonly stateCarrying?: boolean;
  /** See {@link StreamForms}. */
  readonly upcasters?: { readonly [Type in E['type']]?: readonly Upcaster[] };
};

/** Turns `data` of one version of an event into that of the next. Pure; a meaning never changes. */
export type Upcaster = (data: JsonObject, metadata: EventMetadata) => JsonObject;

/** What a service registers of each of its streams: the noun, and by event type how old events are read. */
export type StreamForms = {
  readonly noun: string;
  /** From version 1 to 2, from 2 to 3 and so on; new events are written in the version after the last. */
  readonly upcasters?: { readonly [type: string]: readonly Upcaster[] | undefined };
};

/** Broken or unreachable store; the outcome of an append is unknown. Answered 503. */
export class EventStoreUnavailable extends Outage {
  override readonly name = 'EventStoreUnavailable';
}
/**
 * The queue of appends in this process is full; nothing was stored. A kind of
 * {@link EventStoreUnavailable}, so it is answered 503 too.
 */
export class EventStoreOverloaded extends EventStoreUnavailable {}
/** A bug: an event id already names another event. Nothing was stored. */
export class EventIdTaken extends Error {
  override readonly name = 'EventIdTaken';
  constructor(streamId: string) {
    super(`an event id of an append to ${streamId} already names another event`);
  }
}
/** Three attempts met three conflicts; answered 503 `write_contention`. */
export class WriteContention extends Outage {
  override readonly name = 'WriteContention';
}
