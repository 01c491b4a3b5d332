import type { Decision } from './decision.ts';
import type { DomainEvent, EventMetadata, RecordedEvent, Stream } from './event-store.ts';
import type { Basis, BasisStates, Loaded } from './states/snapshots.ts';

/**
 * Who requests a change, when, and under which id. The ids of its events are derived from (command id,
 * stream id, index), so a command that is carried out twice appends once.
 */
export type Command = {
  readonly id: string;
  readonly now: Date;
  readonly metadata: EventMetadata;
};

/** The result of a command: the decision, the state after it, and the position of its events. */
export type Decided<State, E extends DomainEvent, Reason extends string> = Decision<E, Reason> & {
  readonly state: State;
  readonly revision: number;
  /** Position of the last event it appended; undefined when it appended nothing. */
  readonly position: bigint | undefined;
  /** True when the command had been carried out before: the decision of that time with the current state. */
  readonly repeated: boolean;
};

type Decide<State, E extends DomainEvent, Reason extends string> = (
  state: State,
  revision: number,
) => Decision<E, Reason>;

/** A service's access to its own streams. */
export interface Streams {
  load<State, E extends DomainEvent>(
    stream: Stream<State, E>,
    of: { readonly tenantId: string; readonly id: string },
  ): Promise<Loaded<State>>;

  /**
   * Works as `load` does, for ids that are unique in the deployment: the result names the tenant of the
   * stream.
   */
  find<State, E extends DomainEvent>(
    stream: Stream<State, E>,
    id: string,
  ): Promise<(Loaded<State> & { readonly tenantId: string }) | undefined>;

  /**
   * What this process has last seen of a stream, without a read. It may be outdated: a guess at what to read
   * next, and no ground for a decision or an answer.
   */
  guess<State, E extends DomainEvent>(
    stream: Stream<State, E>,
    of: { readonly tenantId: string; readonly id: string },
  ): State;

  /**
   * Works as `guess` does, for ids that are unique in the deployment. Returns undefined for an id that was
   * not seen lately.
   */
  lastSeen<State, E extends DomainEvent>(
    stream: Stream<State, E>,
    id: string,
  ): (Loaded<State> & { readonly tenantId: string }) | undefined;

  /**
   * Loads, decides, appends at the loaded revision; decides again on a conflict, 3 times at most. `decide` may
   * be called more often: the first time on a cached state, whose revision the append then proves. A stream
   * that most likely does not exist yet (`isNew`) is not read first: the append proves that too.
   */
  decideOn<State, E extends DomainEvent, Reason extends string>(
    stream: Stream<State, E>,
    id: string,
    command: Command,
    rule:
      | Decide<State, E, Reason>
      | { readonly isNew: true; readonly decide: Decide<State, E, Reason> },
  ): Promise<Decided<State, E, Reason>>;

  /**
   * Works as `decideOn` does for a decision that also depends on other streams. They are read in the same
   * round trip or taken from the cache. When one of them has changed, the append is refused and the command
   * is decided again.
   */
  decideOnBasis<State, E extends DomainEvent, Reason extends string, const B extends Basis>(
    stream: Stream<State, E>,
    id: string,
    command: Command,
    rule: {
      readonly restsOn: B;
      readonly decide: (state: State, basis: BasisStates<B>) => Decision<E, Reason>;
      /** Means what it means for `decideOn`. */
      readonly isNew?: boolean;
    },
  ): Promise<Decided<State, E, Reason>>;

  /**
   * As `decideOn` on many streams, in one batch and in the order of the commands. Each is accepted or
   * refused independently; one that meets a conflict is decided again separately.
   */
  decideOnMany<State, E extends DomainEvent, Reason extends string>(
    stream: Stream<State, E>,
    commands: readonly {
      readonly id: string;
      readonly command: Command;
      readonly decide: Decide<State, E, Reason>;
      /** Means what it means for `decideOn`. */
      readonly isNew?: boolean;
    }[],
  ): Promise<readonly Decided<State, E, Reason>[]>;

  /** The events of a stream, for the few decisions that need more than its state. */
  history<State, E extends DomainEvent>(
    stream: Stream<State, E>,
    of: { readonly tenantId: string; readonly id: string },
  ): Promise<readonly RecordedEvent[]>;
}
