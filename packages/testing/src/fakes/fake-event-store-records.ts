/**
 * The records that the fake of EventStoreDB stores, and the real server's rules for appends. All records are in one
 * order, `$all`. Their positions leave out most numbers, like offsets in a file.
 */

export type StoredRecord = {
  readonly position: bigint;
  readonly stream: string;
  /** The event's number in its stream. It is 0 for the first event. */
  readonly revision: bigint;
  readonly id: string;
  /** `type`, `content-type`, and `created` in units of 100 ns. */
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly customMetadata: Uint8Array;
  readonly data: Uint8Array;
};

export type Proposed = Pick<StoredRecord, 'id' | 'facts' | 'customMetadata' | 'data'>;
export type Expected = bigint | 'any' | 'no_stream' | 'stream_exists';
export type Appended =
  | { readonly stored: true; readonly last: StoredRecord }
  | { readonly stored: false; readonly current: bigint | 'no_stream' }
  | { readonly deleted: true };

/** The real server has written some events of its own before the first event of a user. */
const FIRST_POSITION = 613n;
const RECORD_BYTES = 113;
const TICKS_PER_MS = 10_000n;
const OWN_STREAMS = ['$users', '$settings', '$scavenges'];

type StreamState = {
  readonly records: StoredRecord[];
  /** The revision below which everything was deleted by a soft delete. */
  gone: bigint;
  /** A tombstone: nobody may ever write to this stream again. */
  closed: boolean;
};

export type Records = ReturnType<typeof records>;

export function records() {
  const all: StoredRecord[] = [];
  const streams = new Map<string, StreamState>();
  const byId = new Map<string, StoredRecord>();
  const listeners = new Set<() => void>();
  let next = FIRST_POSITION;

  const stateOf = (stream: string): StreamState => {
    const state = streams.get(stream) ?? { records: [], gone: 0n, closed: false };
    streams.set(stream, state);
    return state;
  };

  const store = (stream: string, proposed: Proposed): StoredRecord => {
    const { records: mine } = stateOf(stream);
    const created = (BigInt(Date.now()) * TICKS_PER_MS).toString();
    const record: StoredRecord = {
      ...proposed,
      facts: [...proposed.facts, ['created', created]],
      stream,
      revision: BigInt(mine.length),
      position: next,
    };
    next += BigInt(RECORD_BYTES + record.data.length + record.customMetadata.length);
    mine.push(record);
    all.push(record);
    byId.set(record.id, record);
    return record;
  };

  const append = (stream: string, expected: Expected, proposed: readonly Proposed[]): Appended => {
    const state = stateOf(stream);
    if (state.closed) return { deleted: true };
    const repeated = repeatOf(state, stream, { expected, proposed }, byId);
    if (repeated !== undefined) return { stored: true, last: repeated };
    if (!isMet(state, expected)) return { stored: false, current: currentOf(state) };
    let last: StoredRecord | undefined;
    for (const each of proposed) last = store(stream, each);
    for (const listener of listeners) queueMicrotask(listener);
    return last === undefined ? { deleted: true } : { stored: true, last };
  };

  for (const stream of OWN_STREAMS) store(stream, ownRecord(stream));

  return {
    all: all as readonly StoredRecord[],
    /** The number of records that readers of `all` have read. Each reader adds to it. */
    lookedAt: 0,
    append,
    /** The part of a stream that can still be read. Undefined when there is none. */
    read: (stream: string): readonly StoredRecord[] | undefined => {
      const state = streams.get(stream);
      const left = state?.records.filter(({ revision }) => revision >= state.gone) ?? [];
      return left.length === 0 ? undefined : left;
    },
    isClosed: (stream: string) => streams.get(stream)?.closed === true,
    remove: (stream: string, kind: 'soft' | 'tombstone', expected: Expected): Appended => {
      const state = stateOf(stream);
      if (state.closed) return { deleted: true };
      if (!isMet(state, expected)) return { stored: false, current: currentOf(state) };
      state.gone = BigInt(state.records.length);
      state.closed = kind === 'tombstone';
      const last = store(`$$${stream}`, ownRecord(stream));
      for (const listener of listeners) queueMicrotask(listener);
      return { stored: true, last };
    },
    /** The index in `all` of the first record at or after the position. */
    indexAt: (position: bigint): number => {
      let [low, high] = [0, all.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((all[middle]?.position ?? 0n) < position) low = middle + 1;
        else high = middle;
      }
      return low;
    },
    listen: (listener: () => void): (() => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

let ownIds = 0;
const ownRecord = (about: string): Proposed => ({
  id: `00000000-0000-4000-8000-${String(++ownIds).padStart(12, '0')}`,
  facts: [
    ['type', '$metadata'],
    ['content-type', 'application/json'],
  ],
  customMetadata: new Uint8Array(),
  data: Buffer.from(JSON.stringify({ about })),
});

const currentOf = ({ records: mine }: StreamState): bigint | 'no_stream' =>
  mine.length === 0 ? 'no_stream' : BigInt(mine.length - 1);

function isMet(state: StreamState, expected: Expected): boolean {
  const isThere = BigInt(state.records.length) > state.gone;
  switch (expected) {
    case 'any':
      return true;
    case 'stream_exists':
      return isThere;
    case 'no_stream':
      return !isThere;
  }
  return expected === currentOf(state);
}

/**
 * Returns the last record of an earlier append of the same events. Below the expected revision the server compares with
 * the stored events, and under `any` with the event ids that it has cached. At the expected revision it compares
 * nothing, so one event id can be stored twice.
 */
function repeatOf(
  state: StreamState,
  stream: string,
  { expected, proposed }: { readonly expected: Expected; readonly proposed: readonly Proposed[] },
  byId: ReadonlyMap<string, StoredRecord>,
): StoredRecord | undefined {
  if (expected === 'any' || expected === 'stream_exists') {
    const known = proposed.map(({ id }) => byId.get(id));
    return known.every((record) => record?.stream === stream) ? known.at(-1) : undefined;
  }
  const first = expected === 'no_stream' ? 0 : Number(expected) + 1;
  const there = state.records.slice(first, first + proposed.length);
  const same =
    there.length === proposed.length &&
    there.every((record, index) => record.id === proposed[index]?.id);
  return same ? there.at(-1) : undefined;
}
