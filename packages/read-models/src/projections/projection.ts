import type { Sealed } from '@cardea/crypto';
import {
  type ConcerningType,
  type DomainEvent,
  type EventHandlers,
  type HandlersByType,
  handlersByType,
  type Log,
  madeTotal,
  type Recorded,
  type RecordedEvent,
  recordedOf,
  type Total,
} from '@cardea/event-store';
import type { Statement } from '@cardea/postgres';
import type { Table, TableChange } from './table.ts';

export type ProjectionTools = {
  /**
   * Decrypts an encrypted field of this event. Null when it was erased. A field is bound to the event in which it was
   * encrypted.
   */
  open(
    sealed: Sealed,
    place: { readonly streamId: string; readonly field: string },
  ): Promise<string | null>;
};

type Changes = readonly TableChange[] | Promise<readonly TableChange[]>;

/** `schema` contains the tables: the service's or, in a rebuild, the one in which they are built. */
type ApplyAt = { readonly rebuilding: boolean; readonly schema: string };

/**
 * A projection has one name, one set of tables and one checkpoint. `on` declares the changes of each event. The runner
 * merges those of a batch by key and writes one multi-row statement per table, the checkpoint with the last one, in one
 * transaction. What row changes cannot express (working state, rows of other projections) goes into `apply`: statements
 * that are sent with the others, in that transaction. So rows that depend on earlier rows are written without reading
 * them first.
 */
export type Projection = {
  readonly name: string;
  readonly log: Log;
  readonly tables: readonly Table[];
  readonly on: HandlersByType<[ProjectionTools], Changes>;
  /** The types of the events that concern it: those of `on` and of `apply`. */
  readonly types: ReadonlySet<string>;
  /** The projection's own statements, after the row changes of a batch that has events of these types. */
  readonly apply?: {
    readonly on: readonly string[];
    readonly statements: (events: readonly RecordedEvent[], at: ApplyAt) => readonly Statement[];
  };
  /**
   * True if its rows are rarely read right after a write. Its batches are then spaced like those of consumers, and cost
   * less.
   */
  readonly isSpaced?: boolean;
  /**
   * Called when a stream is parked. Removes the rights that its rows grant, if missing rights are safer than outdated
   * ones.
   */
  readonly onParked?: (streamId: string) => readonly TableChange[];
  /** Called in the process that ran the batch, after its commit, if some of its events concern the projection. */
  readonly onCommitted?: (events: readonly RecordedEvent[]) => void;
  /** Called in the other processes, where the batch's events are unknown, and when such a call may be missing. */
  readonly onAppliedElsewhere?: () => void;
};

/**
 * Declares a projection of the events that concern it: `projection<UserEvent>()({ … })`. `on` handles or ignores each
 * event, except those that only `apply` needs.
 */
export const projection =
  <E extends DomainEvent>() =>
  <const Name extends string, const Applied extends ConcerningType<E, Name> = never>({
    on,
    apply,
    onCommitted,
    ...definition
  }: Definition<E, Name, Applied>): Total<Projection> => {
    const handled = handlersByType<[ProjectionTools], Changes>(on);
    const applied = new Set<string>(apply?.on);
    const types = new Set<string>([...Object.keys(handled), ...applied]);
    return madeTotal<Projection>({
      ...definition,
      on: handled,
      types,
      ...(apply && {
        apply: {
          on: apply.on,
          statements: (events, at) => apply.statements(recordedOf<E, Applied>(events, applied), at),
        },
      }),
      ...(onCommitted && {
        onCommitted: (events) => onCommitted(recordedOf<E>(events, types)),
      }),
    });
  };

type Definition<
  E extends DomainEvent,
  Name extends string,
  Applied extends ConcerningType<E, Name>,
> = Pick<Projection, 'log' | 'tables' | 'isSpaced' | 'onParked' | 'onAppliedElsewhere'> & {
  readonly name: Name;
  readonly on: ProjectionHandlers<E, ConcerningType<E, Name>, Applied>;
  readonly apply?: {
    readonly on: readonly Applied[];
    readonly statements: (
      events: readonly Recorded<E, Applied>[],
      at: ApplyAt,
    ) => readonly Statement[];
  };
  /** Called with the batch's events of the declared types, but not when there are none. */
  readonly onCommitted?: (events: readonly Recorded<E>[]) => void;
};

type ProjectionHandlers<
  E extends DomainEvent,
  Type extends E['type'],
  Applied extends Type,
> = EventHandlers<E, Exclude<Type, Applied>, [ProjectionTools], Changes> &
  Partial<EventHandlers<E, Applied, [ProjectionTools], Changes>>;

/** Waits until projections have passed a position, in any process. */
export interface Positions {
  /** Resolves with true when all named projections have passed `position` within `timeoutMs`. */
  reached(projections: readonly string[], position: bigint, timeoutMs: number): Promise<boolean>;
  /** The position that a projection has passed, as last reported. */
  passed(projection: string): bigint;
}
