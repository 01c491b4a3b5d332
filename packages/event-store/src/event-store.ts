import type { ActorType, JsonObject, ServiceName } from '@cardea/contracts';
import type { Sealed } from '@cardea/crypto';
import { Outage } from '@cardea/runtime';

/** One service's log: totally ordered, and written by that service alone. */
export type Log = ServiceName;

export type DomainEvent = {
  readonly type: string;
  readonly data: object;
  /**
   * A type without a value: the names of the projections and policies that handle the event, and `relay` where
   * it is published; `never` where nobody does. An event that names nobody has to be handled, or ignored with a
   * reason, by each that listens to its stream.
   */
  readonly concerns?: string;
};

/** Who caused the event and through what. Stored with every event; `ip` and `userAgent` are encrypted. */
export type EventMetadata = {
  readonly tenantId: string;
  readonly actor: { readonly type: ActorType; readonly id: string };
  /** The agent that uses a user's token. */
  readonly agentId?: string;
  readonly appId?: string;
  /** The application was named in a header, and not by the caller's key or session. */
  readonly appClaimed?: true;
  readonly requestId?: string;
  readonly traceparent?: string;
  readonly causationId?: string;
  readonly correlationId?: string;
  readonly ip?: Sealed;
  readonly userAgent?: Sealed;
  /** The stream's state after this event; see `stored-states.ts`. Its form names the code that made it. */
  readonly stored?: { readonly form: string; readonly state: unknown };
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
  /** The version in which it was recorded, where that is older than `schemaVersion`, the version of `data`. */
  readonly recordedVersion?: number;
  /** Position in the log. Positions can only be compared, because just one adapter has them without gaps. */
  readonly position: bigint;
  /**
   * Why `data` is not usable: it cannot be decoded, or not be converted to today's version. Only reads of
   * whole logs return such events, so that one of them does not hide all others; their stream is parked.
   */
  readonly fault?: unknown;
};

/** Revision that the stream must be at; 0 = must not exist. */
export type ExpectedRevision = number | 'any';

/** A stream and the revision at which it was read; 0 = it did not exist. */
export type ReadAt = { readonly streamId: string; readonly revision: number };

export type Append = {
  readonly streamId: string;
  readonly expected: ExpectedRevision;
  /**
   * Other streams that the events were decided on: the append is refused as by a conflict when one of them
   * has another revision. On Postgres exactly so at the append's place in the log; EventStoreDB knows no
   * such condition, so there they are read right before the append.
   */
  readonly restsOn?: readonly ReadAt[];
  /** 1 or more; all or none are stored. */
  readonly events: readonly NewEvent[];
};

export type AppendOutcome =
  | {
      readonly appended: true;
      /** Position and revision of the last event. */
      readonly position: bigint;
      readonly revision: number;
      /** True when these events were already stored, and nothing was stored now. */
      readonly repeated: boolean;
    }
  | { readonly appended: false; readonly actualRevision: number };

/**
 * Selects the events to read of a stream: a page from a revision (1) on; the last event alone; or the last
 * {@link STREAM_TAIL_EVENTS} events, in order.
 */
export type StreamRead = { readonly streamId: string; readonly from: number | 'last' | 'tail' };

/**
 * A service's access to its own log (writing) and to any log (reading). Appends are durable when they
 * resolve. The order of positions is the order of commits and the order in which readers see events: a
 * reader that has read position p has missed nothing before p.
 */
export interface EventStore {
  readonly log: Log;
  /** Each append succeeds or fails by itself; the outcomes have the order of the appends. */
  append(appends: readonly Append[]): Promise<readonly AppendOutcome[]>;
  /**
   * Events of a stream in order, from revision `from` (1) on: {@link STREAM_PAGE_EVENTS} at most, and fewer
   * only where the stream ends. `streamPages` reads all of them.
   */
  readStream(streamId: string, from?: number): Promise<readonly RecordedEvent[]>;
  readLast(streamId: string): Promise<RecordedEvent | undefined>;
  /**
   * Several streams at once, in the order of the reads: one trip on Postgres, side by side on EventStoreDB.
   * Everything that was committed before the call is included; the streams need not be of one moment.
   */
  readStreams(reads: readonly StreamRead[]): Promise<readonly (readonly RecordedEvent[])[]>;
  /** Up to `limit` events after position `after`, in order. */
  readLog(log: Log, after: bigint, limit: number): Promise<readonly RecordedEvent[]>;
  /**
   * As `readLog`, for readers that a subscription wakes: events that this process appended may be returned
   * without asking the server; those of other processes are included once the subscriber was woken for
   * them.
   */
  followLog(log: Log, after: bigint, limit: number): Promise<readonly RecordedEvent[]>;
  /** Position of the last event, 0n when empty. */
  head(log: Log): Promise<bigint>;
  /**
   * Calls `onAppend` soon after something was appended to the log, by any process (at once for this
   * process, else after a notice or a poll, at most a second later). It may be called without a new event.
   */
  subscribe(log: Log, onAppend: () => void): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** How the streams of one kind are named and what their state is. */
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

export const streamIdOf = (stream: { readonly noun: string }, id: string): string =>
  `${stream.noun}-${id}`;

/** Converts `data` of one version of an event to the next. Pure; the meaning of an event never changes. */
export type Upcaster = (data: JsonObject, metadata: EventMetadata) => JsonObject;

/** A service registers for each of its streams the noun, and by event type the upcasters of old events. */
export type StreamForms = {
  readonly noun: string;
  /** From version 1 to 2, from 2 to 3 and so on; new events are written in the newest version. */
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
/** A bug: an event id belongs to another event already. Nothing was stored. */
export class EventIdTaken extends Error {
  override readonly name = 'EventIdTaken';
  constructor(streamId: string) {
    super(`an event id of an append to ${streamId} already names another event`);
  }
}
/** Three tries met three conflicts; answered with 503 `write_contention`. */
export class WriteContention extends Outage {
  override readonly name = 'WriteContention';
}
