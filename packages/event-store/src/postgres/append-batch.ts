import type { JsonObject } from '@cardea/contracts';
import { DatabaseError } from 'pg';
import {
  type Append,
  type AppendOutcome,
  EventIdTaken,
  type EventMetadata,
  type Log,
  type ReadAt,
  type RecordedEvent,
} from '../event-store.ts';
import {
  int4Array,
  int8Array,
  jsonbArray,
  textArray,
  timestampArray,
  uuidArray,
} from './binary.ts';
import type { Connection } from './connection.ts';
import { LOG_NUMBERS } from './log-number.ts';

/** An append whose JSON is serialized, so that its size is known. */
export type Written = Append & {
  readonly datas: readonly string[];
  readonly metadatas: readonly string[];
  readonly bytes: number;
};

const UNIQUE_VIOLATION = '23505';

const STATEMENT = {
  name: 'append-batch',
  text: `SELECT base, notes FROM eventstore.append_batch(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
};

const STATEMENT_FOR_ONE = {
  name: 'append-event',
  text: `SELECT base, notes FROM eventstore.append_event(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
};

export type Sending = {
  /** Looks up every event id first, which distinguishes a repeat at the expected revision from a fault. */
  readonly careful: boolean;
  /** Whether other processes are notified if anything is stored. */
  readonly told: boolean;
};

type Note =
  | readonly [append: number, kind: 'repeated', revision: number, position: string]
  | readonly [append: number, kind: 'conflict' | 'stored', revision: number];
type Answer = { readonly base: string | null; readonly notes: readonly Note[] | null };

export function written(append: Append): Written {
  if (append.events.length === 0) throw new Error('an append carries one event or more');
  const datas: string[] = [];
  const metadatas: string[] = [];
  let bytes = 0;
  for (const event of append.events) {
    const data = JSON.stringify(event.data);
    const metadata = metadataText(event.metadata);
    datas.push(data);
    metadatas.push(metadata);
    bytes += data.length + metadata.length;
  }
  return { ...append, datas, metadatas, bytes };
}

let lastMetadata: { readonly of: EventMetadata; readonly text: string } | undefined;

/** The events of one command share one metadata object, which is serialized once. */
function metadataText(metadata: EventMetadata): string {
  if (lastMetadata?.of !== metadata) {
    lastMetadata = { of: metadata, text: JSON.stringify(metadata) };
  }
  return lastMetadata.text;
}

/** Appends a batch, with at most one append per stream, in one transaction. */
export async function appendBatch(
  connection: Connection,
  log: Log,
  batch: readonly Written[],
  { careful, told }: Sending,
): Promise<readonly AppendOutcome[]> {
  const query = (careful ? undefined : forOne(log, batch, told)) ?? {
    ...STATEMENT,
    values: encoded(log, batch, { careful, told }),
  };
  try {
    const [answer] = await connection.query<Answer>(query);
    if (answer === undefined) throw new Error('the append function answered no row');
    return outcomes(batch, answer);
  } catch (error) {
    const taken = error instanceof DatabaseError && error.code === UNIQUE_VIOLATION && careful;
    throw taken ? new EventIdTaken(batch.map((append) => append.streamId).join(', ')) : error;
  }
}

/** Undefined unless the batch is one event at a known revision. */
function forOne(log: Log, [append, ...others]: readonly Written[], told: boolean) {
  const [event, ...more] = append?.events ?? [];
  if (append === undefined || event === undefined) return undefined;
  if (others.length > 0 || more.length > 0 || append.expected === 'any') return undefined;
  const { id, type, schemaVersion, time } = event;
  const place = [LOG_NUMBERS[log], append.streamId, append.expected];
  const facts = [id, type, schemaVersion, time.toISOString()];
  return {
    ...STATEMENT_FOR_ONE,
    values: [
      ...place,
      ...facts,
      append.datas[0],
      append.metadatas[0],
      ...basisArrays(append.restsOn ?? []),
      told,
    ],
  };
}

/** Most decisions depend on their own stream only. */
const NO_BASIS = [textArray([]), int8Array([])];

const basisArrays = (basis: readonly ReadAt[]): readonly Buffer[] =>
  basis.length === 0
    ? NO_BASIS
    : [
        textArray(basis.map(({ streamId }) => streamId)),
        int8Array(basis.map(({ revision }) => revision)),
      ];

function encoded(log: Log, batch: readonly Written[], { careful, told }: Sending): unknown[] {
  const starts: number[] = [];
  const owners: number[] = [];
  for (const [index, append] of batch.entries()) {
    starts.push(owners.length);
    for (const _ of append.events) owners.push(index + 1);
  }
  const events = batch.flatMap((append) => append.events);
  const basis = batch.flatMap(({ restsOn = [] }, index) =>
    restsOn.map((readAt) => ({ ...readAt, owner: index + 1 })),
  );
  return [
    LOG_NUMBERS[log],
    textArray(batch.map((append) => append.streamId)),
    int8Array(batch.map((append) => (append.expected === 'any' ? -1 : append.expected))),
    int4Array(batch.map((append) => append.events.length)),
    int4Array(starts),
    int4Array(owners),
    uuidArray(events.map((event) => event.id)),
    textArray(events.map((event) => event.type)),
    int4Array(events.map((event) => event.schemaVersion)),
    timestampArray(events.map((event) => event.time)),
    jsonbArray(batch.flatMap((append) => append.datas)),
    jsonbArray(batch.flatMap((append) => append.metadatas)),
    careful,
    int4Array(basis.map(({ owner }) => owner)),
    ...basisArrays(basis),
    told,
  ];
}

function outcomes(batch: readonly Written[], { base, notes }: Answer): readonly AppendOutcome[] {
  const noteOf = new Map(notes?.map((note) => [note[0], note]));
  const all: AppendOutcome[] = [];
  let last = base === null ? 0n : BigInt(base);
  for (const [index, append] of batch.entries()) {
    const note = noteOf.get(index + 1);
    if (note?.[1] === 'conflict') {
      all.push({ appended: false, actualRevision: note[2] });
    } else if (note?.[1] === 'repeated') {
      const position = BigInt(note[3]);
      all.push({ appended: true, position, revision: note[2], repeated: true });
    } else {
      last += BigInt(append.events.length);
      const revision = note?.[2] ?? Number(append.expected) + append.events.length;
      all.push({ appended: true, position: last, revision, repeated: false });
    }
  }
  return all;
}

/** An append that was stored, with the position of its last event. */
export type Stored = {
  readonly append: Written;
  readonly position: bigint;
  readonly revision: number;
};

let lastReadMetadata: { readonly text: string; readonly read: EventMetadata } | undefined;

/** The events of one command share one metadata text, which is parsed once. */
function metadataOf(text: string): EventMetadata {
  if (lastReadMetadata?.text !== text)
    lastReadMetadata = { text, read: JSON.parse(text) as EventMetadata };
  return lastReadMetadata.read;
}

/** The events as a reader of the table would get them: parsed from the JSON that was sent. */
export function storedEvents(log: Log, stored: readonly Stored[]): readonly RecordedEvent[] {
  const all: RecordedEvent[] = [];
  for (const { append, position, revision } of stored) {
    const { streamId, events, datas, metadatas } = append;
    for (const [index, { id, type, schemaVersion, time }] of events.entries()) {
      const before = events.length - 1 - index;
      all.push({
        log,
        streamId,
        revision: revision - before,
        position: position - BigInt(before),
        id,
        type,
        schemaVersion,
        time,
        data: JSON.parse(datas[index] ?? '{}') as JsonObject,
        metadata: metadataOf(metadatas[index] ?? '{}'),
      });
    }
  }
  return all;
}
