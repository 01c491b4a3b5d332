import type { Decision, DomainEvent, EventMetadata, RecordedEvent, Stream } from './event-store.ts';
import type { Basis, BasisStates, Loaded } from './states/snapshots.ts';

/**
 * Who requests a change, when, and under which id. The ids of its events are derived from (command id, stream id,
 * index), so a command that is carried out twice appends once.
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
  /** The position of the last event it appended. Undefined when it appended nothing. */
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

  /** Works like `load`, for ids that are unique in the deployment. The result names the tenant of the stream. */
  find<State, E extends DomainEvent>(
    stream: Stream<State, E>,
    id: string,
  ): Promise<(Loaded<State> & { readonly tenantId: string }) | undefined>;

  /**
   * The state of a stream that this process has last seen, without a read. It may be outdated: it helps to guess what
   * to read next, but no decision or response may be based on it.
   */
  guess<State, E extends DomainEvent>(
    stream: Stream<State, E>,
    of: { readonly tenantId: string; readonly id: string },
  ): State;

  /**
   * Works like `guess`, for ids that are unique in the deployment. Returns undefined for an id that was not seen
   * recently.
   */
  lastSeen<State, E extends DomainEvent>(
    stream: Stream<State, E>,
    id: string,
  ): (Loaded<State> & { readonly tenantId: string }) | undefined;

  /**
   * Loads, decides, and appends at the loaded revision. After a conflict it decides again, 3 times at most. `decide`
   * may be called more often: the first time on a cached state, whose revision the append then proves. A stream that
   * most likely does not exist yet (`isNew`) is not read first, because the append proves that too.
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
   * Works like `decideOn` for a decision that also depends on other streams. They are read in the same round trip or
   * taken from the cache. When one of them has changed, the append is refused and the command is decided again.
   */
  decideOnBasis<State, E extends DomainEvent, Reason extends string, const B extends Basis>(
    stream: Stream<State, E>,
    id: string,
    command: Command,
    rule: {
      readonly restsOn: B;
      readonly decide: (state: State, basis: BasisStates<B>) => Decision<E, Reason>;
      /** The same as for `decideOn`. */
      readonly isNew?: boolean;
    },
  ): Promise<Decided<State, E, Reason>>;

  /**
   * Works like `decideOn` on many streams, in one batch and in the order of the commands. Each is accepted or refused
   * independently. A command that meets a conflict is decided again separately.
   */
  decideOnMany<State, E extends DomainEvent, Reason extends string>(
    stream: Stream<State, E>,
    commands: readonly {
      readonly id: string;
      readonly command: Command;
      readonly decide: Decide<State, E, Reason>;
      /** The same as for `decideOn`. */
      readonly isNew?: boolean;
    }[],
  ): Promise<readonly Decided<State, E, Reason>[]>;

  /** The events of a stream, for the few decisions that need more than its state. */
  history<State, E extends DomainEvent>(
    stream: Stream<State, E>,
    of: { readonly tenantId: string; readonly id: string },
  ): Promise<readonly RecordedEvent[]>;
}
