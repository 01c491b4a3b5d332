import type { Decision } from './decision.ts';
import type { DomainEvent, EventMetadata, RecordedEvent, Stream } from './event-store.ts';

/**
 * Who asks for a change, when, and under which id. The ids of its events are derived from
 * (command id, stream id, index), so a command that is carried out twice appends once.
 */
export type Command = {
  readonly id: string;
  readonly now: Date;
  readonly metadata: EventMetadata;
};

/** A loaded stream: its state, and the revision that a decision on it stands on. */
export type Loaded<State> = {
  readonly state: State;
  /** 0 when it does not exist, or belongs to another tenant. */
  readonly revision: number;
};

/** What came of a command: the decision, the state behind it, and where its events stand. */
export type Decided<State, E extends DomainEvent, Reason extends string> = Decision<E, Reason> & {
  readonly state: State;
  readonly revision: number;
  /** Position of the last event it appended; undefined when it appended nothing. */
  readonly position: bigint | undefined;
  /** True when the command had been carried out before: the decision of then, the state of now. */
  readonly repeated: boolean;
};

/** Every service's way to its own streams. */
export interface Streams {
  load<State, E extends DomainEvent>(
    stream: Stream<State, E>,
    of: { readonly tenantId: string; readonly id: string },
  ): Promise<Loaded<State>>;

  /** Loads, decides, appends at the loaded revision; decides again on a conflict, 3 times at most. */
  decideOn<State, E extends DomainEvent, Reason extends string>(
    stream: Stream<State, E>,
    id: string,
    command: Command,
    decide: (state: State, revision: number) => Decision<E, Reason>,
  ): Promise<Decided<State, E, Reason>>;

  /**
   * As `decideOn` on many streams, in one batch and in the order of the commands. Each is accepted or refused
   * for itself; one that meets another writer is decided again by itself.
   */
  decideOnMany<State, E extends DomainEvent, Reason extends string>(
    stream: Stream<State, E>,
    commands: readonly {
      readonly id: string;
      readonly command: Command;
      readonly decide: (state: State, revision: number) => Decision<E, Reason>;
    }[],
  ): Promise<readonly Decided<State, E, Reason>[]>;

  /** As `decideOn`, where the last event of a state-carrying stream was read a moment ago. */
  decideFrom<State, E extends DomainEvent, Reason extends string>(
    stream: Stream<State, E>,
    last: RecordedEvent,
    command: Command,
    decide: (state: State, revision: number) => Decision<E, Reason>,
  ): Promise<Decided<State, E, Reason>>;

  /** The events of a stream; for the few that need more than the folded state. */
  history<State, E extends DomainEvent>(
    stream: Stream<State, E>,
    of: { readonly tenantId: string; readonly id: string },
  ): Promise<readonly RecordedEvent[]>;
}
