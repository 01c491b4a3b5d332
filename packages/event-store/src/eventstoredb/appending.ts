/**
 * One append at its expected revision. It finds out what the server does not report: whether the events were stored
 * before, even if the server would store them a second time.
 */
import { randomUUID } from 'node:crypto';
import type { AppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import {
  type AppendOutcome,
  EventIdTaken,
  type Log,
  type RecordedEvent,
  type StreamRead,
  WriteContention,
} from '../event-store.ts';
import type { EventStoreDbConnection } from './connection.ts';
import type { KnownIds, StreamIds } from './known-ids.ts';
import { appendRequests, type Written, wireName } from './wire.ts';

/** How often an append at any revision is retried after other writers. */
const RETRIES_MAX = 64;

export type Appending = {
  readonly connection: EventStoreDbConnection;
  readonly ids: KnownIds;
  /** Reads from a revision (1) on. The ids of the events read are cached. */
  readonly readStream: (
    log: Log,
    streamId: string,
    from: number,
  ) => Promise<readonly RecordedEvent[]>;
  readonly read: (log: Log, read: StreamRead) => Promise<readonly RecordedEvent[]>;
  /** Reads the ids of a stream into the cache: all of them, or at least those up to a revision. */
  readonly learn: (log: Log, streamId: string, through: number) => Promise<StreamIds>;
};

export async function appendOne(
  needs: Appending,
  log: Log,
  append: Written,
): Promise<AppendOutcome> {
  const { streamId, expected, events } = append;
  const name = wireName(log, streamId);
  const ids = events.map(({ id }) => id);
  if (new Set(ids).size < ids.length || needs.ids.elsewhere(name, ids)) {
    throw new EventIdTaken(streamId);
  }
  // The server's ids are new for each append, so a repeat that it reports is a repeat of this append, whose response
  // was lost.
  const wireIds = ids.map(() => randomUUID());
  for (let retries = 0; retries < RETRIES_MAX; retries++) {
    const through = expected === 'any' ? Number.MAX_SAFE_INTEGER : expected;
    const before = await needs.learn(log, streamId, through);
    const repeated = await repeatOf(needs, log, { append, known: before });
    if (repeated !== undefined) return repeated;
    const at = expected === 'any' ? before.through : expected;
    if (before.through < at) return { appended: false, actualRevision: before.through };

    if (!(await rests(needs, log, append))) return { appended: false, actualRevision: at };
    const answer = await needs.connection.append(appendRequests(name, append, at, wireIds));
    if (!answer.hasWrongExpectedVersion()) {
      needs.ids.learn(name, at + 1, ids);
      return await storedAt(needs, log, { append, at, answer });
    }
    // Another writer was faster. It may have carried out the same command.
    const now = await needs.learn(log, streamId, Number.MAX_SAFE_INTEGER);
    const raced = await repeatOf(needs, log, { append, known: now });
    if (raced !== undefined) return raced;
    if (expected !== 'any') return { appended: false, actualRevision: now.through };
  }
  throw new WriteContention(`writers meet on ${streamId}`);
}

/** Whether the streams on which the append is based have the revisions at which they were read. */
async function rests({ read }: Appending, log: Log, { restsOn = [] }: Written): Promise<boolean> {
  const same = restsOn.map(async ({ streamId, revision }) => {
    const [last] = await read(log, { streamId, from: 'last' });
    return (last?.revision ?? 0) === revision;
  });
  return (await Promise.all(same)).every(Boolean);
}

async function storedAt(
  { readStream }: Appending,
  log: Log,
  {
    append,
    at,
    answer,
  }: { readonly append: Written; readonly at: number; readonly answer: AppendResp },
): Promise<AppendOutcome> {
  const revision = at + append.events.length;
  const told = answer.getSuccess()?.getPosition()?.getCommitPosition();
  const position =
    told === undefined
      ? (await readStream(log, append.streamId, revision))[0]?.position
      : BigInt(told);
  if (position === undefined) throw new Error('the server told no position of an append');
  return { appended: true, position, revision, repeated: false };
}

/** The position at which these events are stored already. Throws when only some are, or in another order. */
async function repeatOf(
  { readStream }: Appending,
  log: Log,
  { append, known: { revisions } }: { readonly append: Written; readonly known: StreamIds },
): Promise<AppendOutcome | undefined> {
  const { streamId, events } = append;
  const found = events.map(({ id }) => revisions.get(id));
  if (found.every((revision) => revision === undefined)) return undefined;
  const first = found[0] ?? 0;
  if (found.some((revision, index) => revision !== first + index)) throw new EventIdTaken(streamId);
  const revision = first + events.length - 1;
  const last = (await readStream(log, streamId, revision))[0];
  if (last === undefined) throw new Error(`stream ${streamId} has lost an event`);
  return { appended: true, position: last.position, revision, repeated: true };
}
