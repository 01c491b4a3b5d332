/** Keeps the projections of a service up to date with its log: each is a sink of a log follower. */
import type { Sealer } from '@cardea/crypto';
import type { EventStore, Log } from '@cardea/event-store';
import {
  type IdleCheckpoints,
  idleCheckpoints,
  LogFollower,
  type LogReader,
  moveCheckpoints,
  openLogReader,
  positionsChannel,
} from '@cardea/log-follower';
import type { Database, ProcessSession } from '@cardea/postgres';
import { type SparedNotices, sparedNotices } from '@cardea/postgres';
import { type Clock, type Logger, type Loops, pacing } from '@cardea/runtime';
import { type SharedTransactions, sharedTransactions } from '../database/shared-transactions.ts';
import type { PositionBoard } from './positions.ts';
import type { Projection } from './projection.ts';
import { projectionSink } from './projector.ts';

/** How long a stored checkpoint may lag after events without effect, if other processes may wait for it. */
const IDLE_STORE_MS = 25;
/** How long a stored checkpoint may lag if there are no other processes. */
const IDLE_STORE_ALONE_MS = 250;

export type RunnerOptions = {
  readonly projections: readonly Projection[];
  readonly store: EventStore;
  readonly database: Database;
  /** The service's schema, with its tables, checkpoints and parked events. */
  readonly schema: string;
  readonly leader: ProcessSession;
  readonly positions: PositionBoard;
  readonly sealer: Pick<Sealer, 'open'>;
  readonly loops: Loops;
  readonly clock: Clock;
  readonly log: Logger;
};

export type ProjectionState = {
  readonly name: string;
  /** True in the process that runs it. */
  readonly active: boolean;
  readonly position: bigint;
  /** The number of parked streams, which is known only while active. */
  readonly parked: number;
};

export interface RunningProjections {
  states(): readonly ProjectionState[];
  /** Finishes the current batches. */
  stop(): Promise<void>;
}

/** Starts all projections. Those of one log share one reader. */
export async function runProjections(options: RunnerOptions): Promise<RunningProjections> {
  const { projections, store, database, schema, clock, positions } = options;
  const readers = new Map<Log, LogReader>();
  for (const { log } of projections) {
    if (!readers.has(log)) readers.set(log, await openLogReader(store, log, { clock }));
  }
  const stop = new AbortController();
  const notices = positionNotices(options);
  const idle = idleCheckpoints({
    clock,
    delayMs: () => (notices.areDue() ? IDLE_STORE_MS : IDLE_STORE_ALONE_MS),
    store: async (moves) => {
      const told = notices.areDue();
      const moved = await moveCheckpoints(shared, { schema, kind: 'projection', told }, moves);
      notices.committed(schema, told);
      return moved;
    },
  });
  const shared = sharedTransactions(database, idle.join);
  const common = { idle, shared, notices };
  const running = projections.map((projection) => {
    const reader = readers.get(projection.log);
    if (reader === undefined) throw new Error(`No reader for log ${projection.log}.`);
    if (projection.onAppliedElsewhere !== undefined) {
      positions.onApplied(projection.name, projection.onAppliedElsewhere);
    }
    const { follower, run } = runOne(options, projection, { reader, ...common });
    return { name: projection.name, follower, ended: run(stop.signal) };
  });
  return {
    states: () =>
      running.map(({ name, follower }) => ({
        name,
        active: follower.checkpoint !== undefined,
        position: positions.passed(name),
        parked: follower.checkpoint?.parked.size ?? 0,
      })),
    stop: async () => {
      stop.abort();
      await Promise.all(running.map(({ ended }) => ended));
      notices.end();
      await Promise.all([...readers.values()].map((reader) => reader.close()));
    },
  };
}

function runOne(
  options: RunnerOptions,
  projection: Projection,
  common: {
    readonly reader: LogReader;
    readonly idle: IdleCheckpoints;
    readonly shared: SharedTransactions;
    readonly notices: SparedNotices;
  },
) {
  const { schema, database, positions, sealer, leader: leases, loops, clock } = options;
  const name = `projection:${schema}.${projection.name}`;
  const log = options.log.child({ projection: `${schema}.${projection.name}` });
  const watch = loops.watch(name);
  const tools = { open: sealer.open.bind(sealer) };
  const sink = projectionSink({ projection, schema, database, tools, positions, log, ...common });
  const parkedNotice = `${schema} projection:${projection.name}`;
  const lead = { lease: name, leases, parkedNotice };
  const follower = new LogFollower(sink, {
    name: projection.name,
    reader: common.reader,
    clock,
    log,
    watch,
    lead,
    ...(projection.isSpaced && { pace: pacing(clock).next }),
  });
  const run = (stop: AbortSignal) => follower.run(stop).finally(() => watch.stop());
  return { follower, run };
}

/** Announces the stored position of each projection. */
const positionNotices = ({ database, leader }: RunnerOptions): SparedNotices =>
  sparedNotices(leader.replicas, async (schemas) => {
    for (const schema of schemas) {
      await database.system.query(
        `SELECT pg_notify('${positionsChannel(schema)}', concat_ws(' ', '${schema}', name, position))
         FROM ${schema}.projection_checkpoints`,
      );
    }
  });
