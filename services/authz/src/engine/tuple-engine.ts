/** Connects log, table and index: the engine that answers, and the loop that keeps it up to date. */
import { EventStoreUnavailable, type RecordedEvent } from '@cardea/event-store';
import { NotCaughtUp } from '@cardea/log-follower';
import type { Loop, ServiceDependencies } from '@cardea/service';
import { subgraphs } from '../adapters/subgraph.ts';
import { countTuples, loadTuples, tableGeneration } from '../adapters/tuple-loader.ts';
import { readFields } from '../tuples/tuple.ts';
import { type Engine, engineOf } from './engine.ts';
import { Follower } from './follower.ts';
import { tableEngine } from './table-engine.ts';
import { type Change, TenantIndexes } from './tenant-indexes.ts';

const TUPLE_STREAM = 'tuple-';
const PAGE_EVENTS = 500;
/** Longest wait for the table to catch up before a tenant is read from it. */
const TABLE_WAIT_MS = 2_000;

type Dependencies = Pick<
  ServiceDependencies,
  'store' | 'database' | 'positions' | 'clock' | 'settings' | 'log'
>;

export type TupleEngine = {
  readonly engine: Engine;
  readonly follower: Follower;
  readonly loop: Loop;
};

export function tupleEngine(needs: Dependencies): TupleEngine {
  const { store, database, positions, clock, settings, log } = needs;
  const maxStalenessMs = settings.AUTHZ_MAX_STALENESS;
  const monotonicMs = () => clock.monotonicMs();
  let generation: string | undefined;
  const tenants: TenantIndexes = new TenantIndexes({
    changeOf,
    count: (tenantId) => countTuples(database, tenantId),
    load: async (tenantId, atLeast) => {
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
    take: (event) => tenants.apply([event]),
    atEnd: async () => {
      const now = await tableGeneration(database);
      if (generation !== undefined && generation !== now) tenants.forgetAll();
      generation = now;
    },
  });
  return {
    follower,
    engine: engineOf(
      { follower, tenants, clock, maxStalenessMs },
      tableEngine({
        subgraphs: subgraphs(database, monotonicMs),
        positions,
        monotonicMs,
        bound: async (tenantId) => {
          const end = follower.staleMs <= maxStalenessMs ? follower.position : await endOf(store);
          const floor = follower.floor(tenantId);
          return end !== undefined && end < floor ? floor : end;
        },
      }),
    ),
    loop: { name: 'authz-follower', run: follower.run },
  };
}

/** Undefined while the log is away. */
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

/** What an event changes in an index; events of other nouns change nothing. */
export function changeOf({ streamId, type, data }: RecordedEvent): Change {
  if (!streamId.startsWith(TUPLE_STREAM)) return { kind: 'nothing' };
  const kind = type === 'TupleWritten' ? 'write' : type === 'TupleDeleted' ? 'delete' : undefined;
  if (kind === undefined) return { kind: 'nothing' };
  try {
    return { kind, tuple: readFields(data) };
  } catch {
    return { kind: 'unreadable' };
  }
}
