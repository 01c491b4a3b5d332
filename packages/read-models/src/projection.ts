import type { Sealed } from '@cardea/crypto';
import type { Log, RecordedEvent } from '@cardea/event-store';
import type { Change } from './change.ts';
import type { Transaction } from './database.ts';

/** What an event says, with its place, as a projection sees it. */
export type Projected<Data> = Omit<RecordedEvent, 'data'> & { readonly data: Data };

/** A column's SQL type decides how `unnest` casts it, e.g. `text`, `uuid`, `timestamptz`, `jsonb`, `text[]`. */
export type Table = {
  /** Without schema: the runner's schema is the service's (or the rebuild's). */
  readonly name: string;
  readonly key: readonly string[];
  readonly columns: { readonly [column: string]: string };
};

export type ProjectionTools = {
  /** Opens a sealed field of this event; null when erased. Fields keep the place they were sealed at. */
  open(
    sealed: Sealed,
    place: { readonly streamId: string; readonly field: string },
  ): Promise<string | null>;
};

/** A change of one row of one named table. */
export type TableChange = { readonly table: string; readonly change: Change<object, object> };

/**
 * One name, one set of tables, one checkpoint. `on` says what an event changes; the runner folds a
 * batch by key and writes one multi-row statement per table, the checkpoint with the last, in one
 * transaction. What rows cannot say (working state, rows of others) goes into `apply`, in that transaction.
 */
export type Projection = {
  readonly name: string;
  readonly log: Log;
  readonly tables: readonly Table[];
  readonly on: {
    readonly [eventType: string]: (
      // biome-ignore lint/suspicious/noExplicitAny: each handler names the data of its own event type.
      event: Projected<any>,
      tools: ProjectionTools,
    ) => readonly TableChange[] | Promise<readonly TableChange[]>;
  };
  /** Statements of the projection's own, behind the folded changes of a batch that has events of these types. */
  readonly apply?: {
    readonly on: readonly string[];
    readonly run: (
      transaction: Transaction,
      events: readonly RecordedEvent[],
      /**
       * `schema` holds the tables: the service's, or in a rebuild the one they are built in. No key can be
       * opened here, for that takes a second connection: what is opened comes with the rows.
       */
      at: { readonly rebuilding: boolean; readonly schema: string },
    ) => Promise<void>;
  };
  /** When a stream is parked: removes what it had granted, where absent is safer than stale. */
  readonly onParked?: (streamId: string) => readonly TableChange[];
  /** Called in the process that ran the batch, after its commit. */
  readonly onCommitted?: (events: readonly RecordedEvent[]) => void;
};

/** Waits until projections have passed a position, in whichever process they run. */
export interface Positions {
  /** True when all named projections passed `position` within `timeoutMs`. */
  reached(projections: readonly string[], position: bigint, timeoutMs: number): Promise<boolean>;
  /** The position that a projection has passed, as last heard. */
  passed(projection: string): bigint;
}
