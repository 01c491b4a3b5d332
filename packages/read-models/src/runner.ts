/**
 * Keeps the projections of a service level with its log: one process runs each of them, the others stand
 * by and take over. What stops a projection for a moment is tried again; what stops it for good is parked.
 */
import type { Sealer } from '@cardea/crypto';
import type { EventStore, Log, RecordedEvent } from '@cardea/event-store';
import {
  type Clock,
  failpoint,
  type Logger,
  type Loops,
  type LoopWatch,
  span,
} from '@cardea/runtime';
import type { Database } from './database.ts';
import { errorCode } from './database-errors.ts';
import type { LeaderLocks } from './leader-locks.ts';
import { type LogReader, openLogReader, PAGE_EVENTS_MAX, type Page } from './log-reader.ts';
import { PARKED_CHANNEL } from './parked-streams.ts';
import { type PassingMoves, passingMoves } from './passing-moves.ts';
import type { PositionBoard } from './positions.ts';
import type { Projection } from './projection.ts';
import { Fenced, Projector, type Standing } from './projector.ts';
import { becomeActive } from './standby.ts';

const IDLE_WAIT_MS = 5000;
const BACK_OFF_MIN_MS = 100;
const BACK_OFF_MAX_MS = 5000;
const LAG_DEGRADED_MS = 60_000;

export type RunnerOptions = {
  readonly projections: readonly Projection[];
  readonly store: EventStore;
  readonly database: Database;
  /** The service's: tables, checkpoints and parked events are there. */
  readonly schema: string;
  readonly leader: LeaderLocks;
  readonly positions: PositionBoard;
  readonly sealer: Pick<Sealer, 'open'>;
  readonly loops: Loops;
  readonly clock: Clock;
  readonly log: Logger;
};

export type ProjectionState = {
  readonly name: string;
  /** True in the one process that runs it. */
  readonly active: boolean;
  readonly position: bigint;
  /** Streams; known where it is active. */
  readonly parked: number;
};

export interface RunningProjections {
  states(): readonly ProjectionState[];
  /** Finishes the batches in hand. */
  stop(): Promise<void>;
}

/** Starts all projections; they read their logs through one reader per log. */
export async function runProjections(options: RunnerOptions): Promise<RunningProjections> {
  const readers = new Map<Log, LogReader>();
  for (const { log } of options.projections) {
    if (!readers.has(log)) readers.set(log, await openLogReader(options.store, log, options.clock));
  }
  const stop = new AbortController();
  const moves = passingMoves(options.database, options.schema, options.clock);
  const running = options.projections.map((projection) => {
    const reader = readers.get(projection.log);
    if (reader === undefined) throw new Error(`No reader for log ${projection.log}.`);
    return new Runner(options, projection, { reader, moves });
  });
  const ended = Promise.all(running.map((runner) => runner.run(stop.signal)));
  return {
    states: () => running.map((runner) => runner.state()),
    stop: async () => {
      stop.abort();
      await ended;
      await Promise.all([...readers.values()].map((reader) => reader.close()));
    },
  };
}

class Runner {
  readonly #options: RunnerOptions;
  readonly #projection: Projection;
  readonly #reader: LogReader;
  readonly #moves: PassingMoves;
  readonly #projector: Projector;
  readonly #watch: LoopWatch;
  readonly #log: Logger;
  #standing: Standing | undefined;
  /** Someone released a stream: what this runner knows of parked streams is old. */
  #stale = false;
  #nudge = new AbortController();
  /** Events whose commit was not answered: they count as committed once the checkpoint says so. */
  #unanswered: readonly RecordedEvent[] = [];
  #failing: string | undefined;

  constructor(
    options: RunnerOptions,
    projection: Projection,
    shared: { readonly reader: LogReader; readonly moves: PassingMoves },
  ) {
    this.#options = options;
    this.#projection = projection;
    this.#reader = shared.reader;
    this.#moves = shared.moves;
    this.#log = options.log.child({ projection: `${options.schema}.${projection.name}` });
    this.#watch = options.loops.watch(`projection:${options.schema}.${projection.name}`);
    const { sealer } = options;
    this.#projector = new Projector({
      projection,
      schema: options.schema,
      database: options.database,
      tools: { open: (sealed, place) => sealer.open(sealed, place) },
      rebuilding: false,
      onParked: (event, error) =>
        this.#log.error(
          { stream_id: event.streamId, event_type: event.type, code: errorCode(error) },
          'stream parked',
        ),
    });
  }

  state(): ProjectionState {
    const { name } = this.#projection;
    return {
      name,
      active: this.#standing !== undefined,
      position: this.#options.positions.passed(name),
      parked: this.#standing?.parked.size ?? 0,
    };
  }

  async run(stop: AbortSignal): Promise<void> {
    const { leader, schema, clock } = this.#options;
    const mine = `${schema} projection:${this.#projection.name}`;
    const silence = leader.listen(PARKED_CHANNEL, (payload) => {
      if (payload === undefined || payload === mine) this.#readAgain();
    });
    while (!stop.aborted) {
      const name = `projection:${schema}.${this.#projection.name}`;
      const lease = await becomeActive({ leader, clock, watch: this.#watch }, name, stop);
      if (lease === undefined) break;
      await this.#runActive(AbortSignal.any([stop, lease.lost]));
      this.#standing = undefined;
      await lease.release();
    }
    silence();
    this.#watch.stop();
  }

  async #runActive(signal: AbortSignal): Promise<void> {
    let backOffMs = BACK_OFF_MIN_MS;
    while (!signal.aborted) {
      try {
        const standing = await this.#takeUp();
        const until = AbortSignal.any([signal, this.#nudge.signal]);
        await this.#follow(standing, until, () => {
          backOffMs = BACK_OFF_MIN_MS;
        });
      } catch (error) {
        if (error instanceof Fenced) continue; // read again where it stands
        this.#fail(errorCode(error));
        await this.#options.clock.sleep(backOffMs, signal);
        backOffMs = Math.min(backOffMs * 2, BACK_OFF_MAX_MS);
      }
    }
  }

  /** Learns where the projection stands, also when another process or a lost answer moved it. */
  async #takeUp(): Promise<Standing> {
    this.#watch.tick();
    this.#stale = false;
    this.#nudge = new AbortController();
    await this.#moves.settle(this.#projection.name);
    const standing = await this.#projector.standing();
    this.#standing = standing;
    this.#options.positions.advance(this.#projection.name, standing.position);
    const answered = this.#unanswered.filter((event) => event.position <= standing.position);
    this.#unanswered = [];
    this.#committed(answered);
    return standing;
  }

  async #follow(standing: Standing, signal: AbortSignal, onProgress: () => void): Promise<void> {
    let seen = standing.position;
    let next: Promise<Page> | undefined;
    while (!signal.aborted && !this.#stale) {
      this.#watch.tick();
      await failpoint('loop.stuck');
      const { events, generation } = await (next ?? this.#reader.page(seen));
      const full = events.length === PAGE_EVENTS_MAX;
      seen = events.at(-1)?.position ?? seen;
      next = full ? this.#prefetch(seen) : undefined;
      if (this.#projector.isIdle(standing, events)) this.#pass(standing, seen, events);
      else await this.#apply(standing, events);
      onProgress();
      this.#report(events);
      if (!full) await this.#reader.changed(generation, IDLE_WAIT_MS, signal);
    }
    await this.#moves.settle(this.#projection.name);
    if (!this.#stale) await this.#projector.move(standing, seen);
  }

  #prefetch(after: bigint): Promise<Page> {
    const page = this.#reader.page(after);
    page.catch(() => {}); // met again where it is awaited, unless this batch fails first
    return page;
  }

  /** Events that change nothing here: whoever waits in this process need not wait for the database. */
  #pass(standing: Standing, to: bigint, events: readonly RecordedEvent[]): void {
    const { name } = this.#projection;
    this.#options.positions.advance(name, to);
    if (to > standing.position) {
      this.#moves.pass(name, { standing, to, onLost: () => this.#readAgain() });
    }
    this.#committed(events);
  }

  #readAgain(): void {
    this.#stale = true;
    this.#nudge.abort();
  }

  async #apply(standing: Standing, events: readonly RecordedEvent[]): Promise<void> {
    await this.#moves.settle(this.#projection.name);
    this.#unanswered = events;
    await span('project', () => this.#projector.apply(standing, events), {
      attributes: { projection: this.#projection.name, events: events.length },
      links: events.map(({ metadata }) => metadata.traceparent),
    });
    this.#unanswered = [];
    this.#options.positions.advance(this.#projection.name, standing.position);
    this.#committed(events);
  }

  #committed(events: readonly RecordedEvent[]): void {
    if (events.length === 0) return;
    try {
      this.#projection.onCommitted?.(events);
    } catch (error) {
      this.#log.error({ code: errorCode(error) }, 'a listener of a projection failed');
    }
  }

  #fail(code: string): void {
    this.#watch.tick();
    if (this.#failing !== code) this.#log.warn({ code }, 'projection cannot get on');
    this.#failing = code;
    this.#watch.degraded(`cannot get on: ${code}`);
  }

  /** A parked stream and a long way behind are both worth an alarm, and neither is an outage. */
  #report(events: readonly RecordedEvent[]): void {
    if (this.#failing !== undefined) this.#log.info({}, 'projection gets on again');
    this.#failing = undefined;
    const parked = this.#standing?.parked.size ?? 0;
    const last = events.at(-1);
    const lagMs =
      last === undefined ? 0 : this.#options.clock.now().getTime() - last.time.getTime();
    if (parked > 0) this.#watch.degraded(`parked streams: ${parked}`);
    else this.#watch.degraded(lagMs > LAG_DEGRADED_MS ? 'behind by more than 60 s' : undefined);
  }
}
