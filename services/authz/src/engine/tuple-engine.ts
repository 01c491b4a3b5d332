/** Connects log, table and index: the engine that answers, and the loop that keeps it up to date. */
import type { RecordedEvent } from '@cardea/event-store';
import { NotCaughtUp } from '@cardea/log-follower';
import type { Loop, ServiceDependencies } from '@cardea/service';
import { loadTuples, tableGeneration } from '../adapters/tuple-loader.ts';
import { readFields } from '../tuples/tuple.ts';
import { type Engine, indexEngine } from './engine.ts';
import { Follower } from './follower.ts';
import { type Change, TenantIndexes } from './tenant-indexes.ts';

const TUPLE_STREAM = 'tuple-';
const PAGE_EVENTS = 500;
/** Longest wait for the table to catch up before a tenant is read from it. */
const TABLE_WAIT_MS = 2_000;
/** All tenants' indexes together, by estimate; the least recently used are evicted. */
const INDEX_BYTES_MAX = 512 * 1024 * 1024;

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
  let generation: string | undefined;
  const tenants: TenantIndexes = new TenantIndexes({
    changeOf,
    load: async (tenantId, atLeast) => {
      if (await positions.reached(['tuples'], atLeast, TABLE_WAIT_MS)) {
        return loadTuples(database, tenantId);
      }
      throw new NotCaughtUp('the table of tuples is behind its log');
    },
    eventsBetween: (after, through) => eventsBetween(needs, after, through),
    position: () => follower.position,
    monotonicMs: () => clock.monotonicMs(),
    bytesMax: INDEX_BYTES_MAX,
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
    engine: indexEngine({ follower, tenants, clock, maxStalenessMs: settings.AUTHZ_MAX_STALENESS }),
    loop: { name: 'authz-follower', run: follower.run },
  };
}

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
