/** Connects log, table and index: the engine that answers, and the loop that keeps it up to date. */
import { EventStoreUnavailable, type RecordedEvent } from '@cardea/event-store';
import { NotCaughtUp } from '@cardea/log-follower';
import type { Loop, ServiceDependencies } from '@cardea/service';
import { readAffected } from '../adapters/affected-tuples.ts';
import { REPLICAS_CHANNEL, replicaTable } from '../adapters/replica-table.ts';
import { snapshotFiles } from '../adapters/snapshot-files.ts';
import { subgraphs } from '../adapters/subgraph.ts';
import { indexBasis, loadTuples, sizeOf, tableGeneration } from '../adapters/tuple-loader.ts';
import { evaluationsOf } from '../engine/evaluations.ts';
import { type Change, TenantIndexes } from '../engine/tenant-indexes.ts';
import { readFields } from '../relations/relation.ts';
import { type Engine, engineOf } from './engine.ts';
import { Follower } from './follower.ts';
import { type IndexSnapshots, indexSnapshots, noSnapshots } from './index-snapshots.ts';
import { aloneLease, type ReplicaLease, replicaLease } from './replica-lease.ts';
import { type DryRuns, dryRuns, largeReads, tableEngine } from './table-engine.ts';
import { noBarrier, type WriteBarrier, writeBarrier } from './write-barrier.ts';

const TUPLE_STREAM = 'tuple-';
const MODEL_STREAM = 'model-';
const PAGE_EVENTS = 500;
/** The longest wait for the table to catch up before a tenant is read from it. */
const TABLE_WAIT_MS = 2_000;

type Dependencies = Pick<
  ServiceDependencies,
  'store' | 'database' | 'positions' | 'notices' | 'clock' | 'ids' | 'settings' | 'log' | 'derive'
> & {
  /** Receives each event of a tenant's model. */
  readonly models: { readonly changed: (tenantId: string) => void };
};

export type TupleEngine = {
  readonly engine: Engine;
  readonly dryRun: DryRuns;
  readonly follower: Follower;
  readonly barrier: Pick<WriteBarrier, 'pass'>;
  /** The last position acknowledged to clients of the tenant; undefined while it is unknown. */
  readonly acknowledged: (tenantId: string) => Promise<bigint | undefined>;
  readonly loops: readonly Loop[];
  readonly stop: () => Promise<void>;
};

export function tupleEngine(needs: Dependencies): TupleEngine {
  const { store, database, positions, clock, settings, log } = needs;
  const maxStalenessMs = settings.AUTHZ_MAX_STALENESS;
  const monotonicMs = () => clock.monotonicMs();
  let generation: string | undefined;
  const tenants: TenantIndexes = new TenantIndexes({
    changeOf,
    sizeOf: (tenantId) => sizeOf(database, tenantId),
    load: async (tenantId, atLeast) => {
      const saved = await snapshots.load(tenantId, atLeast);
      if (saved !== undefined) return saved;
      if (await positions.reached(['tuples'], atLeast, TABLE_WAIT_MS)) {
        return loadTuples(database, tenantId);
      }
      throw new NotCaughtUp('the table of tuples is behind its log');
    },
    eventsBetween: (after, through) => eventsBetween(needs, after, through),
    position: () => follower.position,
    monotonicMs,
    bytesMax: settings.AUTHZ_INDEX_MAX_BYTES,
  });
  const follower: Follower = new Follower({
    store,
    clock,
    log,
    take: (event) => {
      if (isModel(event)) needs.models.changed(event.metadata.tenantId);
      tenants.apply([event]);
    },
    atEnd: async () => {
      const now = await tableGeneration(database);
      if (generation !== undefined && generation !== now) tenants.forgetAll();
      generation = now;
    },
  });
  const snapshots = snapshotsOf(needs, () => tenants);
  const replicas = replicasOf(needs, follower);
  const isFresh = () => follower.staleMs <= maxStalenessMs && replicas.lease.isValid();
  const bound = async (tenantId: string) => {
    const end = isFresh() ? follower.position : await endOf(store);
    const floor = follower.floor(tenantId);
    return end !== undefined && end < floor ? floor : end;
  };
  const evaluations = evaluationsOf(clock);
  const table = { positions, evaluations, bound, largeReads: largeReads(clock) };
  return {
    follower,
    barrier: replicas.barrier,
    acknowledged: replicas.areOthers ? bound : async (tenantId) => follower.floor(tenantId),
    engine: engineOf(
      { follower, tenants, clock, evaluations, isFresh },
      tableEngine({ ...table, subgraphs: subgraphs(database, evaluations.slices) }),
    ),
    dryRun: dryRuns({
      ...table,
      affected: (of, changed) => readAffected(database, of, changed),
    }),
    loops: [{ name: 'authz-follower', run: follower.run }, ...replicas.loops, ...snapshots.loops],
    stop: async () => {
      replicas.stop();
      await snapshots.stop();
    },
  };
}

type Replicas = {
  readonly areOthers: boolean;
  readonly lease: Pick<ReplicaLease, 'isValid'>;
  readonly barrier: Pick<WriteBarrier, 'pass'>;
  readonly loops: readonly Loop[];
  readonly stop: () => void;
};

/** Without a cache that processes share there is only one process. */
function replicasOf(needs: Dependencies, follower: Follower): Replicas {
  const { settings, database, store, clock, ids, log, notices } = needs;
  if (settings.REDIS_URL === undefined) {
    return { areOthers: false, lease: aloneLease, barrier: noBarrier, loops: [], stop: () => {} };
  }
  const table = replicaTable(database);
  const barrier = writeBarrier({ table, ownId: () => lease.id(), clock });
  const lease: ReplicaLease = replicaLease({
    table,
    follower,
    head: () => store.head(store.log),
    look: barrier.look,
    hasOthers: barrier.hasOthers,
    clock,
    ids,
    log,
  });
  return {
    areOthers: true,
    lease,
    barrier,
    loops: [lease.loop],
    stop: notices.listen(REPLICAS_CHANNEL, barrier.notice),
  };
}

function snapshotsOf(needs: Dependencies, tenants: () => TenantIndexes): IndexSnapshots {
  const { settings, database, store, clock, ids, log, derive } = needs;
  const folder = settings.AUTHZ_SNAPSHOT_DIR;
  if (folder === undefined) return noSnapshots;
  const { current: key } = derive('ENCRYPTION_KEY', 'authz-snapshot/v1');
  return indexSnapshots({
    files: snapshotFiles(folder, key, () => ids.next()),
    tenants,
    basis: () => indexBasis(database),
    head: () => store.head(store.log),
    clock,
    log,
  });
}

/** Undefined while the log is unavailable. */
const endOf = (store: Dependencies['store']): Promise<bigint | undefined> =>
  store.head(store.log).catch((error: unknown) => {
    if (error instanceof EventStoreUnavailable) return undefined;
    throw error;
  });

async function* eventsBetween(
  { store }: Pick<Dependencies, 'store'>,
  after: bigint,
  through: bigint,
): AsyncIterable<RecordedEvent> {
  let position = after;
  while (position < through) {
    const page = await store.readLog('authz', position, PAGE_EVENTS);
    for (const event of page) {
      if (event.position > through) return;
      yield event;
    }
    const last = page.at(-1);
    if (last === undefined) return;
    position = last.position;
  }
}

const isModel = ({ streamId }: RecordedEvent): boolean => streamId.startsWith(MODEL_STREAM);

/** Returns the change that an event causes in an index. Events of other nouns cause none. */
export function changeOf(event: RecordedEvent): Change {
  const { streamId, type, data } = event;
  // Another model requires another index, which is read from the table after the table has the model.
  if (isModel(event)) return { kind: 'unreadable' };
  if (!streamId.startsWith(TUPLE_STREAM)) return { kind: 'nothing' };
  const kind = type === 'TupleWritten' ? 'write' : type === 'TupleDeleted' ? 'delete' : undefined;
  if (kind === undefined) return { kind: 'nothing' };
  try {
    return { kind, tuple: readFields(data) };
  } catch {
    return { kind: 'unreadable' };
  }
}
