/**
 * Carries a projection over a range of events: what each event says becomes changes, the changes of a
 * batch become one statement. An event that cannot be applied parks its stream and holds up no other.
 */
import type { RecordedEvent } from '@cardea/event-store';
import { failpoint } from '@cardea/runtime';
import { type Batch, batchStatement, type ParkedEvent, type RowChange } from './batch-statement.ts';
import { foldByKey } from './change.ts';
import type { Database, Queryable, Transaction } from './database.ts';
import { blamesData, errorCode, isDatabaseError } from './database-errors.ts';
import type { Projection, ProjectionTools, TableChange } from './projection.ts';

/** Where a projection stands; `epoch` moves when anyone but its runner touched it. */
export type Standing = {
  position: bigint;
  epoch: bigint;
  readonly parked: Set<string>;
};

export type ProjectorOptions = {
  readonly projection: Projection;
  /** Where its tables, checkpoint and parked events are: the service's schema, or a rebuild's. */
  readonly schema: string;
  readonly database: Database;
  readonly tools: ProjectionTools;
  readonly rebuilding: boolean;
  /** Told of each stream that was parked, after its commit. */
  readonly onParked?: (event: RecordedEvent, error: unknown) => void;
};

/** The checkpoint is not where this runner left it: someone else runs the projection, or mended it. */
export class Fenced extends Error {
  override readonly name = 'Fenced';
}

export type Poison = { readonly event: RecordedEvent; readonly error: unknown };

/** What a batch comes to; parks streams as it meets what cannot be mapped. */
export type Mapped = {
  readonly changes: Batch['changes'];
  readonly parked: readonly ParkedEvent[];
  /** What parks a stream that was not parked before. */
  readonly poison: readonly Poison[];
  /** Those whose effects count: not of a parked stream. */
  readonly applied: readonly RecordedEvent[];
};

export class Projector {
  readonly #options: ProjectorOptions;
  readonly #tables: ReadonlyMap<string, Projection['tables'][number]>;

  constructor(options: ProjectorOptions) {
    this.#options = options;
    this.#tables = new Map(options.projection.tables.map((table) => [table.name, table]));
  }

  /** Reads where the projection stands; makes its checkpoint when it is new. */
  async standing(): Promise<Standing> {
    const { database, schema, projection } = this.#options;
    return await database.asSystem(async (sql) => {
      await sql.query(
        `INSERT INTO ${schema}.projection_checkpoints (name, position) VALUES ($1, 0)
         ON CONFLICT DO NOTHING`,
        [projection.name],
      );
      const { rows } = await sql.query<{ position: string; epoch: string }>(
        `SELECT position, epoch FROM ${schema}.projection_checkpoints WHERE name = $1`,
        [projection.name],
      );
      const parked = await sql.query<{ stream_id: string }>(
        `SELECT DISTINCT stream_id FROM ${schema}.parked_events WHERE owner = $1`,
        [`projection:${projection.name}`],
      );
      return {
        position: BigInt(rows[0]?.position ?? 0),
        epoch: BigInt(rows[0]?.epoch ?? 0),
        parked: new Set(parked.rows.map((row) => row.stream_id)),
      };
    });
  }

  /**
   * Applies events behind the standing and moves it. Throws {@link Fenced} when replaced, and whatever
   * the database throws that is nobody's fault; in both cases the standing has to be read again.
   */
  async apply(standing: Standing, events: readonly RecordedEvent[]): Promise<void> {
    const last = events.at(-1);
    if (last === undefined) return;
    const parked = new Set(standing.parked);
    const mapped = await this.map(events, parked);
    try {
      await this.#write(standing, last.position, mapped);
    } catch (error) {
      if (!blamesEvents(error)) throw error;
      await this.#bisect(standing, events, error);
      return;
    }
    this.#moved(standing, last.position, mapped);
  }

  #moved(standing: Standing, position: bigint, { poison }: Mapped): void {
    standing.position = position;
    for (const { event, error } of poison) {
      standing.parked.add(event.streamId);
      this.#options.onParked?.(event, error);
    }
  }

  /** True when the events change nothing of this projection, so that only its checkpoint has to move. */
  isIdle(standing: Standing, events: readonly RecordedEvent[]): boolean {
    const { on, apply } = this.#options.projection;
    return !events.some(
      ({ type, streamId }) =>
        Object.hasOwn(on, type) || apply?.on.includes(type) || standing.parked.has(streamId),
    );
  }

  /** Moves the checkpoint over events that change nothing. */
  async move(standing: Standing, to: bigint): Promise<void> {
    if (to === standing.position) return;
    await this.#write(standing, to, { changes: [], parked: [], poison: [], applied: [] });
    standing.position = to;
  }

  /** Halves until the guilty event stands alone; then its stream is parked. */
  async #bisect(standing: Standing, events: readonly RecordedEvent[], error: unknown) {
    const [first] = events;
    if (first !== undefined && events.length === 1) {
      const mapped: Mapped = {
        changes: this.#fold(this.#onParked(first)),
        parked: [parkedEvent(first, errorCode(error))],
        poison: [{ event: first, error }],
        applied: [],
      };
      await this.#write(standing, first.position, mapped);
      this.#moved(standing, first.position, mapped);
      return;
    }
    const half = Math.ceil(events.length / 2);
    await this.apply(standing, events.slice(0, half));
    await this.apply(standing, events.slice(half));
  }

  /** In order. Adds the streams that it parks to `parked`. */
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
        const said = projection.on[event.type]?.(event, tools);
        const mine = said instanceof Promise ? await said : said;
        for (const change of mine ?? []) changes.push(this.#known(change));
        applied.push(event);
      } catch (error) {
        if (isDatabaseError(error)) throw error;
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
    const byTable = Map.groupBy(changes, (change) => change.table);
    const folded: Batch['changes'][number][] = [];
    for (const table of this.#tables.values()) {
      const mine = byTable.get(table.name)?.map(({ change }) => change as RowChange);
      if (mine !== undefined) folded.push({ table, changes: foldByKey(table.key, mine) });
    }
    return folded;
  }

  async #write(standing: Standing, to: bigint, mapped: Mapped): Promise<void> {
    const { database, projection, schema } = this.#options;
    const batch: Batch = {
      schema,
      name: projection.name,
      from: standing.position,
      epoch: standing.epoch,
      to,
      changes: mapped.changes,
      parked: mapped.parked,
    };
    await failpoint('projection.before_commit');
    if (this.#ownEvents(mapped.applied).length === 0) await run(database.system, batch);
    else {
      await database.asSystem((sql) => this.writeIn(sql, batch, mapped.applied), {
        durable: false,
      });
    }
    await failpoint('projection.after_commit');
  }

  /** The statement and what the projection does by itself, in a transaction that others may share. */
  async writeIn(sql: Transaction, batch: Batch, applied: readonly RecordedEvent[]): Promise<void> {
    const { projection, schema, rebuilding } = this.#options;
    await run(sql, batch);
    const events = this.#ownEvents(applied);
    if (events.length > 0) {
      await projection.apply?.run(sql, events, { rebuilding, schema });
    }
  }

  /** Those that the projection has statements of its own for. */
  #ownEvents(events: readonly RecordedEvent[]): readonly RecordedEvent[] {
    const types = this.#options.projection.apply?.on ?? [];
    return types.length === 0 ? [] : events.filter(({ type }) => types.includes(type));
  }
}

async function run(sql: Queryable, batch: Batch): Promise<void> {
  const { name, text, values } = batchStatement(batch);
  const { rowCount } = await sql.query(name === undefined ? text : { name, text }, values);
  if (rowCount === 0) throw new Fenced(`${batch.schema}.${batch.name} stands elsewhere.`);
}

/** What an `apply` of a projection throws by itself blames the events too, as long as it is no outage. */
const blamesEvents = (error: unknown): boolean =>
  isDatabaseError(error) ? blamesData(error) : !(error instanceof Fenced) && !isFailPoint(error);

const isFailPoint = (error: unknown): boolean =>
  error instanceof Error && error.name === 'FailPointReached';

export const parkedEvent = (event: RecordedEvent, errorCode: string | null): ParkedEvent => ({
  streamId: event.streamId,
  position: event.position,
  eventId: event.id,
  eventType: event.type,
  errorCode,
});
