/** The Read calls of the fake event store: streams and `$all`, in both directions, filtered, and as a subscription. */
import shared from '@eventstore/db-client/generated/shared_pb.js';
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import { type ServerWritableStream, type ServiceError, status } from '@grpc/grpc-js';
import { failure, streamNameOf, uuidMessage } from './fake-event-store-protocol.ts';
import type { Records, StoredRecord } from './fake-event-store-records.ts';

/** Records that are read between two checkpoints, if the client names no window. */
const WINDOW_RECORDS = 32;

export type ReadCall = ServerWritableStream<ReadReq, ReadResp>;
/** Ends a subscription as the server does: with an error. */
export type Drop = (error: ServiceError) => void;

type Matches = (record: StoredRecord) => boolean;

export function read(records: Records, subscriptions: Set<Drop>, call: ReadCall): void {
  const options = call.request.getOptions();
  if (options === undefined) {
    call.emit('error', failure(status.INVALID_ARGUMENT, 'no options'));
    return;
  }
  if (options.hasSubscription()) subscribe({ records, subscriptions, call, options });
  else if (options.hasAll()) readAll(records, call, options);
  else readStream(records, call, options);
}

type Subscribing = {
  readonly records: Records;
  readonly subscriptions: Set<Drop>;
  readonly call: ReadCall;
  readonly options: ReadReq.Options;
};

/** Continues after the given position, which itself is left out. */
function subscribe({ records, subscriptions, call, options }: Subscribing): void {
  if (!options.hasAll()) {
    call.emit('error', failure(status.UNIMPLEMENTED, 'the stand-in subscribes to $all alone'));
    return;
  }
  const matches = filterOf(options);
  const filter = options.getFilter();
  const window = filter?.hasMax() === true ? filter.getMax() : WINDOW_RECORDS;
  const checkpointEvery = window * Math.max(filter?.getCheckpointintervalmultiplier() ?? 1, 1);
  let next = startOf(records, options, 1n);
  let sinceCheckpoint = 0;
  let isLevel = false;
  const pump = (): void => {
    for (; next < records.all.length; next++) {
      const record = records.all[next] as StoredRecord;
      if (matches(record)) call.write(eventMessage(record, options));
      sinceCheckpoint++;
      if (filter === undefined || sinceCheckpoint < checkpointEvery) continue;
      sinceCheckpoint = 0;
      call.write(checkpointMessage(record));
    }
    if (!isLevel) call.write(new messages.ReadResp().setCaughtUp(new messages.ReadResp.CaughtUp()));
    isLevel = true;
  };
  const deaf = records.listen(() => pump());
  const end = (): void => {
    deaf();
    subscriptions.delete(drop);
  };
  const drop: Drop = (error) => {
    end();
    call.emit('error', error);
  };
  subscriptions.add(drop);
  call.on('cancelled', end);
  call.on('close', end);
  const confirmation = new messages.ReadResp.SubscriptionConfirmation();
  confirmation.setSubscriptionId('stand-in');
  call.write(new messages.ReadResp().setConfirmation(confirmation));
  pump();
}

function readAll(records: Records, call: ReadCall, options: ReadReq.Options): void {
  const matches = filterOf(options);
  let left = Number(options.getCount());
  const take = (at: number): void => {
    records.lookedAt++;
    const record = records.all[at];
    if (record === undefined || !matches(record)) return;
    call.write(eventMessage(record, options));
    left--;
  };
  const start = startOf(records, options, 0n);
  if (options.getReadDirection() === FORWARDS) {
    for (let at = start; at < records.all.length && left > 0; at++) take(at);
  } else {
    for (let at = start - 1; at >= 0 && left > 0; at--) take(at);
  }
  call.end();
}

const FORWARDS = 0;

function readStream(records: Records, call: ReadCall, options: ReadReq.Options): void {
  const wanted = options.getStream();
  const name = streamNameOf(wanted?.getStreamIdentifier());
  if (records.isClosed(name)) {
    const named = { exception: 'stream-deleted', 'stream-name': name };
    call.emit('error', failure(status.FAILED_PRECONDITION, 'stream deleted', named));
    return;
  }
  const all = records.read(name);
  if (all === undefined) {
    const missing = new messages.ReadResp.StreamNotFound();
    missing.setStreamIdentifier(wanted?.getStreamIdentifier());
    call.write(new messages.ReadResp().setStreamNotFound(missing));
    call.end();
    return;
  }
  const count = Number(options.getCount());
  const first = wanted?.hasRevision() === true ? BigInt(wanted.getRevision()) : undefined;
  const found =
    options.getReadDirection() === FORWARDS
      ? all.filter(({ revision }) => !(wanted?.hasEnd() ?? false) && revision >= (first ?? 0n))
      : all.filter(({ revision }) => first === undefined || revision <= first).toReversed();
  for (const record of found.slice(0, count)) call.write(eventMessage(record, options));
  call.end();
}

/** The index of the first record whose position is at least `beyond` above the position that the options name. */
function startOf(records: Records, options: ReadReq.Options, beyond: bigint): number {
  const all = options.getAll();
  if (all?.hasPosition() === true) {
    return records.indexAt(BigInt(all.getPosition()?.getCommitPosition() ?? 0) + beyond);
  }
  return all?.hasEnd() === true ? records.all.length : 0;
}

function filterOf(options: ReadReq.Options): Matches {
  const filter = options.getFilter();
  if (filter === undefined) return () => true;
  const byName = filter.getStreamIdentifier();
  const expression = byName ?? filter.getEventType();
  const prefixes = expression?.getPrefixList() ?? [];
  const regex = expression?.getRegex() ?? '';
  const pattern = regex === '' ? undefined : new RegExp(regex);
  return ({ stream, facts }) => {
    const word = byName === undefined ? (facts[0]?.[1] ?? '') : stream;
    return pattern?.test(word) ?? prefixes.some((prefix) => word.startsWith(prefix));
  };
}

function eventMessage(record: StoredRecord, options: ReadReq.Options): ReadResp {
  const message = new messages.ReadResp.ReadEvent.RecordedEvent();
  const name = new shared.StreamIdentifier();
  name.setStreamName(Buffer.from(record.stream));
  message.setId(uuidMessage(record.id, options.getUuidOption()?.hasStructured() === true));
  message.setStreamIdentifier(name);
  message.setStreamRevision(record.revision.toString());
  message.setCommitPosition(record.position.toString());
  message.setPreparePosition(record.position.toString());
  for (const [key, value] of record.facts) message.getMetadataMap().set(key, value);
  message.setCustomMetadata(record.customMetadata);
  message.setData(record.data);
  const event = new messages.ReadResp.ReadEvent();
  event.setEvent(message);
  event.setCommitPosition(record.position.toString());
  return new messages.ReadResp().setEvent(event);
}

function checkpointMessage({ position }: StoredRecord): ReadResp {
  const checkpoint = new messages.ReadResp.Checkpoint();
  checkpoint.setCommitPosition(position.toString());
  checkpoint.setPreparePosition(position.toString());
  return new messages.ReadResp().setCheckpoint(checkpoint);
}
