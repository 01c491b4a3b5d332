/**
 * Applies a range of events to a projection. Each event is mapped to changes, and the changes of a batch become one
 * statement. An event that cannot be applied parks its stream and blocks no other.
 */
import type { RecordedEvent } from '@cardea/event-store';
import {
  type Checkpoint,
  Fenced,
  type IdleCheckpoints,
  isOutage,
  loadCheckpoint,
  type ParkedEvent,
  parkedEvent,
  type Sink,
} from '@cardea/log-follower';
import type { Database, SparedNotices, Statement } from '@cardea/postgres';
import { errorCode, failpoint, type Logger, span } from '@cardea/runtime';
import type { SharedTransactions } from '../database/shared-transactions.ts';
import { type Batch, batchStatement, isElsewhere, type RowChange } from './batch-statement.ts';
import type { PositionBoard } from './positions.ts';
import type { Projection, ProjectionTools } from './projection.ts';
import { foldByKey, type TableChange } from './table.ts';

export type ProjectorOptions = {
  readonly projection: Projection;
  /** The schema of its tables, checkpoint and parked events: the service's, or a rebuild's. */
  readonly schema: string;
  readonly database: Database;
  /** Collects statements of small batches, to send them together with those of other projections. */
  readonly shared?: SharedTransactions;
  /** Notifies other processes of positions. Without it each position is announced. */
  readonly notices?: SparedNotices;
  readonly tools: ProjectionTools;
  readonly rebuilding: boolean;
  /** Called for each stream that was parked, after the commit. */
  readonly onParked?: (event: RecordedEvent, error: unknown) => void;
};

/** The largest batch that shares a transaction. A larger one would delay the others in it. */
const SHARED_EVENTS_MAX = 50;

export type Poison = { readonly event: RecordedEvent; readonly error: unknown };

/** A mapped batch. Streams whose events cannot be mapped are parked. */
export type Mapped = {
  readonly changes: Batch['changes'];
  readonly parked: readonly ParkedEvent[];
  /** Events whose stream is parked because of them and was not parked before. */
  readonly poison: readonly Poison[];
  /** Events that take effect, because their streams are not parked. */
  readonly applied: readonly RecordedEvent[];
};

export class Projector {
  readonly #options: ProjectorOptions;
  readonly #tables: ReadonlyMap<string, Projection['tables'][number]>;

  constructor(options: ProjectorOptions) {
    this.#options = options;
    this.#tables = new Map(options.projection.tables.map((table) => [table.name, table]));
  }

  /** Reads the projection's checkpoint. Creates it when the projection is new. */
  load(): Promise<Checkpoint> {
    const { database, schema, projection } = this.#options;
    return loadCheckpoint(database.system, { schema, kind: 'projection', name: projection.name });
  }

  /**
   * Applies events after the checkpoint and moves it. Throws {@link Fenced} when another process has taken over, and
   * every outage. After both the checkpoint has to be read again. Any other exception is attributed to one of the
   * events, and nothing was written.
   */
  async apply(checkpoint: Checkpoint, events: readonly RecordedEvent[]): Promise<void> {
    const last = events.at(-1);
    if (last === undefined) return;
    const parked = new Set(checkpoint.parked.keys());
    const mapped = await this.map(events, parked);
    await this.#write(checkpoint, last.position, mapped);
    this.#moved(checkpoint, last.position, mapped);
  }

  /** Parks the stream of an event that failed on its own. If the rows of `onParked` fail too, it parks without them. */
  async setAside(checkpoint: Checkpoint, event: RecordedEvent, error: unknown): Promise<void> {
    const park = async (changes: () => Batch['changes']): Promise<void> => {
      const parked = [parkedEvent(event, errorCode(error))];
      const mapped = { changes: changes(), parked, poison: [], applied: [] };
      await this.#write(checkpoint, event.position, mapped);
    };
    try {
      await park(() => this.#fold(this.#onParked(event)));
    } catch (failure) {
      if (isOutage(failure)) throw failure;
      await park(() => []);
    }
    checkpoint.position = event.position;
    checkpoint.parked.set(event.streamId, event.position);
  }

  #moved(checkpoint: Checkpoint, position: bigint, { poison }: Mapped): void {
    checkpoint.position = position;
    for (const { event, error } of poison) {
      checkpoint.parked.set(event.streamId, event.position);
      this.#options.onParked?.(event, error);
    }
  }

  /** Maps events in order. Adds the streams that it parks to `parked`. */
  async map(events: readonly RecordedEvent[], parked: Set<string>): Promise<Mapped> {
    const { projection, tools } = this.#options;
    const changes: TableChange[] = [];
    const waiting: ParkedEvent[] = [];
    const poison: Poison[] = [];
    const applied: RecordedEvent[] = [];
    for (const event of events) {
      if (parked.has(event.streamId)) {
        waiting.push(parkedEvent(event, null));
        continue;
      }
      try {
        if (event.fault !== undefined) throw event.fault;
        const mapped = projection.on[event.type]?.(event, tools);
        const mine = mapped instanceof Promise ? await mapped : mapped;
        for (const change of mine ?? []) changes.push(this.#known(change));
        applied.push(event);
      } catch (error) {
        if (isOutage(error)) throw error;
        parked.add(event.streamId);
        poison.push({ event, error });
        waiting.push(parkedEvent(event, errorCode(error)));
        changes.push(...this.#onParked(event));
      }
    }
    return { changes: this.#fold(changes), parked: waiting, poison, applied };
  }

  #onParked(event: RecordedEvent): readonly TableChange[] {
    return this.#options.projection.onParked?.(event.streamId) ?? [];
  }

  #known(change: TableChange): TableChange {
    if (this.#tables.has(change.table)) return change;
    throw new Error(`${this.#options.projection.name} declares no table ${change.table}.`);
  }

  #fold(changes: readonly TableChange[]): Batch['changes'] {
    const folded: Batch['changes'][number][] = [];
    for (const table of this.#tables.values()) {
      const mine: RowChange[] = [];
      for (const { table: name, change } of changes) {
        if (name === table.name) mine.push(change as RowChange);
      }
      if (mine.length === 0) continue;
      folded.push({ table, changes: mine.length === 1 ? mine : foldByKey(table.key, mine) });
    }
    return folded;
  }

  async #write(checkpoint: Checkpoint, to: bigint, mapped: Mapped): Promise<void> {
    const { database, projection, schema, notices } = this.#options;
    const told = notices?.areDue() ?? true;
    const batch: Batch = {
      schema,
      name: projection.name,
      from: checkpoint.position,
      epoch: checkpoint.epoch,
      to,
      changes: mapped.changes,
      parked: mapped.parked,
      told,
    };
    await failpoint('projection.before_commit');
    const statements = this.statementsOf(batch, mapped.applied);
    const isSmall = mapped.applied.length <= SHARED_EVENTS_MAX;
    const { shared } = this.#options;
    try {
      await (isSmall && shared !== undefined
        ? shared.together(statements)
        : database.asSystemAtOnce(statements));
    } catch (error) {
      if (isElsewhere(error)) throw new Fenced(`${schema}.${projection.name} stands elsewhere.`);
      throw error;
    }
    notices?.committed(schema, told);
    await failpoint('projection.after_commit');
  }

  /** The batch's statement and the projection's own ones, for one transaction. */
  statementsOf(batch: Batch, applied: readonly RecordedEvent[]): readonly Statement[] {
    const { projection, schema, rebuilding } = this.#options;
    const { apply } = projection;
    const statements = [batchStatement(batch)];
    if (apply === undefined) return statements;
    const events: RecordedEvent[] = [];
    for (const event of applied) if (apply.on.includes(event.type)) events.push(event);
    if (events.length > 0) statements.push(...apply.statements(events, { rebuilding, schema }));
    return statements;
  }
}

export type ProjectionSinkOptions = Omit<ProjectorOptions, 'rebuilding' | 'onParked'> & {
  readonly idle: IdleCheckpoints;
  readonly positions: PositionBoard;
  readonly log: Logger;
};

/** A projection as a sink of its log. It writes rows and checkpoint in one statement, then wakes waiting callers. */
export function projectionSink(options: ProjectionSinkOptions): Sink {
  const { projection, positions, idle, log } = options;
  const onParked = (event: RecordedEvent, error: unknown): void => {
    const fields = { stream_id: event.streamId, event_type: event.type, code: errorCode(error) };
    log.error(fields, 'stream parked');
  };
  const projector = new Projector({ ...options, rebuilding: false, onParked });
  return {
    load: () => projector.load(),
    prepare: async () => {
      await failpoint('loop.stuck');
    },
    apply: async ({ events }, checkpoint) => {
      await span('project', () => projector.apply(checkpoint, events), {
        attributes: { projection: projection.name, events: events.length },
        links: () => events.map(({ metadata }) => metadata.traceparent),
      });
      return true;
    },
    setAside: (event, error, checkpoint) => projector.setAside(checkpoint, event, error),
    types: projection.types,
    recordsParked: true,
    idle,
    moved: (position, events) => {
      positions.advance(projection.name, position);
      if (projection.onCommitted === undefined) return;
      for (const { type } of events) {
        if (projection.types.has(type)) return projection.onCommitted(events);
      }
    },
  };
}
