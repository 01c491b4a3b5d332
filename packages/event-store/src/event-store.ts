import type { ActorType, JsonObject, ServiceName } from '@cardea/contracts';
import type { Sealed } from '@cardea/crypto';
import { Outage } from '@cardea/runtime';

/** One service's log: totally ordered, and written by that service alone. */
export type Log = ServiceName;

export type DomainEvent = {
  readonly type: string;
  readonly data: object;
  /**
   * Exists only as a type. It names the projections and policies that handle the event, and `relay` if it is published.
   * `never` means that nobody handles it. If it is missing, each listener of the stream has to handle the event or
   * ignore it with a reason.
   */
  readonly concerns?: string;
};

/** Who caused the event and through what. It is stored with every event. `ip` and `userAgent` are encrypted. */
export type EventMetadata = {
  readonly tenantId: string;
  readonly actor: { readonly type: ActorType; readonly id: string };
  /** The agent that uses a user's token. */
  readonly agentId?: string;
  readonly appId?: string;
  /** The application was named in a header, so neither the caller's key nor session proves it. */
  readonly appClaimed?: true;
  readonly requestId?: string;
  readonly traceparent?: string;
  readonly causationId?: string;
  readonly correlationId?: string;
  readonly ip?: Sealed;
  readonly userAgent?: Sealed;
  /** The stream's state after this event (see `stored-states.ts`). Its form identifies the code that made it. */
  readonly stored?: { readonly form: string; readonly state: unknown };
};

export type NewEvent = {
  /** A UUID, unique in the log. Two events with one id are the same event. */
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
  /** The event's number in its stream. It is 1 for the first event. */
  readonly revision: number;
  /** The version in which it was recorded, if that is older than `schemaVersion`, the version of `data`. */
  readonly recordedVersion?: number;
  /** The position in the log. Positions can only be compared, because only one adapter has them without gaps. */
  readonly position: bigint;
  /**
   * Why `data` is not usable: it cannot be decoded, or not converted to the current version. Only reads of whole logs
   * return such events, so that one of them does not hide all others. Their stream is parked.
   */
  readonly fault?: unknown;
};

/** The required revision of the stream; 0 means that it must not exist. */
export type ExpectedRevision = number | 'any';

/** A stream and the revision at which it was read; 0 if it did not exist. */
export type ReadAt = { readonly streamId: string; readonly revision: number };

export type Append = {
  readonly streamId: string;
  readonly expected: ExpectedRevision;
  /**
   * Other streams on which the decision was based. The append is refused like a conflict when one of them has another
   * revision. PostgreSQL compares exactly at the append's position in the log. EventStoreDB has no such condition, so
   * there they are read right before the append.
   */
  readonly restsOn?: readonly ReadAt[];
  /** One or more events. All or none are stored. */
  readonly events: readonly NewEvent[];
};

export type AppendOutcome =
  | {
      readonly appended: true;
      /** Position and revision of the last event. */
      readonly position: bigint;
      readonly revision: number;
      /** True when these events were stored before, and nothing was stored now. */
      readonly repeated: boolean;
    }
  | { readonly appended: false; readonly actualRevision: number };

/**
 * The events to read from a stream. A number reads a page that begins at that revision; the first revision is 1. `last`
 * reads only the last event. `tail` reads the last {@link STREAM_TAIL_EVENTS} events, in order.
 */
export type StreamRead = { readonly streamId: string; readonly from: number | 'last' | 'tail' };

/**
 * A service's access to its own log (writing) and to any log (reading). Appends are durable when they
 * resolve. The order of positions is the order of commits and the order in which readers see events: a
 * reader that has read position p has missed nothing before p.
 */
export interface EventStore {
  readonly log: Log;
  /** Each append succeeds or fails independently. The outcomes have the order of the appends. */
  append(appends: readonly Append[]): Promise<readonly AppendOutcome[]>;
  /**
   * Events of a stream in order, from revision `from` (1) on: {@link STREAM_PAGE_EVENTS} at most, and fewer only if the
   * stream ends. `streamPages` reads all of them.
   */
  readStream(streamId: string, from?: number): Promise<readonly RecordedEvent[]>;
  readLast(streamId: string): Promise<RecordedEvent | undefined>;
  /**
   * Reads several streams at once, in the order of the reads: in one round trip on PostgreSQL, concurrently on
   * EventStoreDB. Everything that was committed before the call is included. The streams need not be from one point in
   * time.
   */
  readStreams(reads: readonly StreamRead[]): Promise<readonly (readonly RecordedEvent[])[]>;
  /** Up to `limit` events after position `after`, in order. */
  readLog(log: Log, after: bigint, limit: number): Promise<readonly RecordedEvent[]>;
  /**
   * Works like `readLog`, for readers that a subscription wakes. Events that this process appended may be returned
   * without asking the server. Those of other processes are included after the subscriber was woken for them.
   */
  followLog(log: Log, after: bigint, limit: number): Promise<readonly RecordedEvent[]>;
  /** The position of the last event; 0n when the log is empty. */
  head(log: Log): Promise<bigint>;
  /**
   * Calls `onAppend` soon after any process appended to the log: at once for this process, else after a notice or a
   * poll, at most a second later. It may be called without a new event.
   */
  subscribe(log: Log, onAppend: () => void): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** The naming and the state of one kind of stream. */
export type Stream<State, E extends DomainEvent> = {
  /** The noun, without a hyphen. The stream of `id` is `<noun>-<id>`. */
  readonly noun: string;
  readonly initial: State;
  readonly evolve: (state: State, event: E) => State;
  /** True when each event contains the whole state, so only the last one is loaded. */
  readonly stateCarrying?: boolean;
  /** See {@link StreamForms}. */
  readonly upcasters?: { readonly [Type in E['type']]?: readonly Upcaster[] };
};

export const streamIdOf = (stream: { readonly noun: string }, id: string): string =>
  `${stream.noun}-${id}`;

/**
 * The decision on a command. A refusal may carry events too: a failed sign-in changes nothing for the caller,
 * but lockout and audit need its event.
 */
export type Decision<E extends DomainEvent, Reason extends string> =
  | { readonly accepted: true; readonly events: readonly E[] }
  | { readonly accepted: false; readonly reason: Reason; readonly events: readonly E[] };

export const accept = <E extends DomainEvent>(...events: readonly E[]) =>
  ({ accepted: true, events }) as const;

export const refuse = <const Reason extends string, E extends DomainEvent = never>(
  reason: Reason,
  ...events: readonly E[]
) => ({ accepted: false, reason, events }) as const;

/** Converts `data` of one version of an event to the next. It is pure. The meaning of an event never changes. */
export type Upcaster = (data: JsonObject, metadata: EventMetadata) => JsonObject;

/** A service registers for each of its streams the noun, and by event type the upcasters of old events. */
export type StreamForms = {
  readonly noun: string;
  /** Converters from version 1 to 2, from 2 to 3 and so on. New events are written in the newest version. */
  readonly upcasters?: { readonly [type: string]: readonly Upcaster[] | undefined };
};

/** The store is broken or unreachable, and the outcome of an append is unknown. Answered with 503. */
export class EventStoreUnavailable extends Outage {
  override readonly name = 'EventStoreUnavailable';
}
/**
 * The queue of appends in this process is full, and nothing was stored. It is a kind of {@link EventStoreUnavailable},
 * so it is answered with 503 too.
 */
export class EventStoreOverloaded extends EventStoreUnavailable {}
/** A bug: the event id belongs to another event already. Nothing was stored. */
export class EventIdTaken extends Error {
  override readonly name = 'EventIdTaken';
  constructor(streamId: string) {
    super(`an event id of an append to ${streamId} already names another event`);
  }
}
/** Three tries met three conflicts. Answered with 503 `write_contention`. */
export class WriteContention extends Outage {
  override readonly name = 'WriteContention';
}
