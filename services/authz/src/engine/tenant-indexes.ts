import type { RecordedEvent } from '@cardea/event-store';
import { NotCaughtUp } from '@cardea/log-follower';
import type { Fields } from '../relations/relation.ts';
import type { TupleIndex } from './tuple-index.ts';

/** The change that an event of the log causes in an index. */
export type Change =
  | { readonly kind: 'write' | 'delete'; readonly tuple: Fields }
  | { readonly kind: 'nothing' }
  /** The projection will park the event's stream, which removes the tuple. */
  | { readonly kind: 'unreadable' };

/** A tenant's tuples as of the table. */
export type LoadedTuples = {
  readonly index: TupleIndex;
  /** The position that the table has reached. */
  readonly position: bigint;
  /** Streams that the projection currently does not apply. Their events change nothing. */
  readonly parked: ReadonlySet<string>;
  /** Whether it was read from a file, which is complete. */
  readonly isSaved?: boolean;
};

/** An estimate of an index's contents. */
export type TenantSize = { readonly tuples: number; readonly hasModel: boolean };

export type TenantIndexesDependencies = {
  readonly changeOf: (event: RecordedEvent) => Change;
  readonly sizeOf: (tenantId: string) => Promise<TenantSize>;
  /** Reads the tenant's table once it has reached a position. */
  readonly load: (tenantId: string, atLeast: bigint) => Promise<LoadedTuples>;
  /** Events after one position up to another, in order. */
  readonly eventsBetween: (after: bigint, through: bigint) => AsyncIterable<RecordedEvent>;
  /** The follower's position. */
  readonly position: () => bigint;
  readonly monotonicMs: () => number;
  /** Memory that all indexes together may use, by estimate. */
  readonly bytesMax: number;
};

type Entry = LoadedTuples & {
  usedAtMs: number;
  changedAtMs: number;
  version: number;
  /** The version in the file; undefined if there is no file. */
  savedVersion: number | undefined;
};
/** An index that differs from its file. */
export type Unsaved = {
  readonly tenantId: string;
  readonly index: TupleIndex;
  readonly parked: ReadonlySet<string>;
  /** The log position that it reflects now. */
  readonly position: bigint;
  /** Returns false after it has changed or was evicted. */
  readonly isCurrent: () => boolean;
  readonly saved: () => void;
};
/** The events that the follower delivered while the tenant was being read. */
type Loading = {
  readonly arrived: RecordedEvent[];
  readonly isLong: boolean;
  isStale: boolean;
  done: Promise<Entry>;
};

const BYTES_PER_TUPLE = 140;
/** Bytes per tuple in an index for a tenant's own model, which consists of maps. */
const BYTES_PER_TUPLE_OF_MODEL = 1_000;
const BYTES_PER_TENANT = 8 * 1024;
/** A tenant that was used within this time is not evicted for another one. */
const IN_USE_MS = 10_000;
/** A load of more tuples takes so long that no request waits for it. */
const AWAITED_TUPLES_MAX = 10_000;
/** How often the memory of loaded tenants is compared with the budget. */
const ROOM_EVERY_MS = 1_000;
/** How often a tenant is read before its requests fail. */
const LOADS_MAX = 3;
/** If more events than these follow the read position, the table is read again after it has applied them. */
const TAIL_EVENTS_MAX = 200_000;

/** The indexes of the tenants in use, each at the follower's position. */
export class TenantIndexes {
  readonly #needs: TenantIndexesDependencies;
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry>();
  readonly #loading = new Map<string, Loading>();
  #roomMadeAtMs = 0;

  constructor(needs: TenantIndexesDependencies) {
    this.#needs = needs;
  }

  /** The index of a loaded tenant; undefined if it is not loaded. */
  loaded(tenantId: string): Entry | undefined {
    const entry = this.#entries.get(tenantId);
    if (entry !== undefined) this.#touch(tenantId, entry);
    return entry;
  }

  /**
   * Loads the tenant if needed. Returns undefined if there is no room for it, or while a large tenant is being loaded.
   * The table has to answer then.
   */
  async get(tenantId: string): Promise<Entry | undefined> {
    const entry = this.loaded(tenantId);
    if (entry !== undefined) return entry;
    const loading = this.#loading.get(tenantId) ?? (await this.#loadIfRoom(tenantId));
    return loading?.isLong === false ? loading.done : undefined;
  }

  /** Applies events in log order. Events of tenants that are not loaded are ignored. */
  apply(events: readonly RecordedEvent[]): void {
    for (const event of events) {
      const { tenantId } = event.metadata;
      this.#loading.get(tenantId)?.arrived.push(event);
      const entry = this.#entries.get(tenantId);
      if (entry !== undefined && !this.#applyTo(entry, event)) this.#entries.delete(tenantId);
    }
    const nowMs = this.#needs.monotonicMs();
    if (nowMs - this.#roomMadeAtMs >= ROOM_EVERY_MS) this.#makeRoom();
  }

  /** Call it when the table was changed by something other than the log. Everything is loaded again. */
  forgetAll(): void {
    this.#entries.clear();
    for (const loading of this.#loading.values()) loading.isStale = true;
  }

  /** Indexes that differ from their files and have not changed for this time. */
  unsaved(quietMs: number): readonly Unsaved[] {
    const quietSinceMs = this.#needs.monotonicMs() - quietMs;
    const changed = [...this.#entries].filter(
      ([, entry]) => entry.savedVersion !== entry.version && entry.changedAtMs <= quietSinceMs,
    );
    return changed.map(([tenantId, entry]) => {
      const { index, parked, version } = entry;
      const position = this.#needs.position();
      // The index was read from a newer table, which contains this event already.
      const isOlder = position < entry.position;
      return {
        tenantId,
        index,
        parked,
        position: isOlder ? entry.position : position,
        isCurrent: () => this.#entries.get(tenantId) === entry && entry.version === version,
        saved: () => {
          entry.savedVersion = version;
        },
      };
    });
  }

  #touch(tenantId: string, entry: Entry): void {
    const nowMs = this.#needs.monotonicMs();
    // The order only has to be right to the second, so it is not updated at each request.
    if (nowMs - entry.usedAtMs < IN_USE_MS / 10) return;
    entry.usedAtMs = nowMs;
    this.#entries.delete(tenantId);
    this.#entries.set(tenantId, entry);
  }

  async #loadIfRoom(tenantId: string): Promise<Loading | undefined> {
    const size = await this.#needs.sizeOf(tenantId);
    const underWay = this.#loading.get(tenantId);
    if (underWay !== undefined) return underWay;
    const nowMs = this.#needs.monotonicMs();
    const inUse = [...this.#entries.values()].filter((entry) => isInUse(entry, nowMs));
    const bytes = inUse.reduce((sum, { index }) => sum + bytesOf(index), estimate(size));
    if (bytes > this.#needs.bytesMax) return undefined;
    return this.#startLoading(tenantId, size.tuples > AWAITED_TUPLES_MAX);
  }

  #startLoading(tenantId: string, isLong: boolean): Loading {
    const loading: Loading = {
      arrived: [],
      isLong,
      isStale: false,
      done: Promise.resolve(undefined as never),
    };
    this.#loading.set(tenantId, loading);
    loading.done = this.#load(tenantId, loading).finally(() => this.#loading.delete(tenantId));
    // No request waits for a long load. The next request starts another one.
    if (isLong) loading.done.catch(() => {});
    return loading;
  }

  /** Reads table and log, then applies the events since the table's position in one turn of the event loop. */
  async #load(tenantId: string, loading: Loading): Promise<Entry> {
    const followed = this.#needs.position();
    let atLeast = 0n;
    for (let tries = 1; tries <= LOADS_MAX; tries++) {
      loading.isStale = false;
      const read = await this.#needs.load(tenantId, atLeast);
      const entry = entryOf(read, this.#needs.monotonicMs());
      const tail = await this.#tailOf(tenantId, entry.position, followed);
      if (tail === undefined) {
        atLeast = followed;
        continue;
      }
      const newer = [...tail, ...loading.arrived];
      const isReadable = newer.every((event) => this.#applyTo(entry, event));
      // At that position the table has parked the streams of unreadable events.
      if (!isReadable) atLeast = newer.at(-1)?.position ?? atLeast;
      if (!isReadable || loading.isStale) continue;
      this.#entries.set(tenantId, entry);
      this.#loading.delete(tenantId);
      this.#makeRoom();
      return entry;
    }
    throw new NotCaughtUp();
  }

  /**
   * The tenant's events between two positions. Undefined if there are too many events of other tenants between them.
   */
  async #tailOf(
    tenantId: string,
    after: bigint,
    through: bigint,
  ): Promise<RecordedEvent[] | undefined> {
    const tail: RecordedEvent[] = [];
    let looked = 0;
    for await (const event of this.#needs.eventsBetween(after, through)) {
      if (++looked > TAIL_EVENTS_MAX) return undefined;
      if (event.metadata.tenantId === tenantId) tail.push(event);
    }
    return tail;
  }

  /**
   * Returns false if the index has to be read again: the event is unreadable, so the index no longer matches the table;
   * or the index uses much more memory than its tuples need.
   */
  #applyTo(entry: Entry, event: RecordedEvent): boolean {
    if (event.position <= entry.position || entry.parked.has(event.streamId)) return true;
    const change = this.#needs.changeOf(event);
    switch (change.kind) {
      case 'write':
        entry.index.write(change.tuple);
        break;
      case 'delete':
        entry.index.delete(change.tuple);
        break;
      case 'nothing':
        return true;
      case 'unreadable':
        return false;
    }
    entry.version++;
    entry.changedAtMs = this.#needs.monotonicMs();
    return !entry.index.isWorn;
  }

  /** Evicts indexes larger than the budget, then the least recently used, but none in use. */
  #makeRoom(): void {
    const { bytesMax, monotonicMs } = this.#needs;
    const nowMs = monotonicMs();
    this.#roomMadeAtMs = nowMs;
    let bytes = 0;
    for (const [tenantId, { index }] of this.#entries) {
      if (bytesOf(index) > bytesMax) this.#entries.delete(tenantId);
      else bytes += bytesOf(index);
    }
    for (const [tenantId, entry] of this.#entries) {
      if (bytes <= bytesMax || isInUse(entry, nowMs)) return;
      this.#entries.delete(tenantId);
      bytes -= bytesOf(entry.index);
    }
  }
}

const entryOf = (read: LoadedTuples, nowMs: number): Entry => ({
  ...read,
  usedAtMs: nowMs,
  changedAtMs: nowMs,
  version: 0,
  savedVersion: read.isSaved === true ? 0 : undefined,
});

const isInUse = ({ usedAtMs }: Entry, nowMs: number): boolean => nowMs - usedAtMs < IN_USE_MS;
const estimate = ({ tuples, hasModel }: TenantSize): number =>
  tuples * (hasModel ? BYTES_PER_TUPLE_OF_MODEL : BYTES_PER_TUPLE) + BYTES_PER_TENANT;
/** Only an index of a model has no file. */
const bytesOf = ({ size, hasNoFile }: TupleIndex): number =>
  estimate({ tuples: size, hasModel: hasNoFile === true });
