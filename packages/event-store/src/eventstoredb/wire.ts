/**
 * How events and reads are encoded for EventStoreDB. The server's event ids are new for each call of
 * append; our ids are in the metadata, with everything else that the server has no field for.
 */
import type { AppendReq, ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { Append, Log, NewEvent, RecordedEvent } from '../event-store.ts';
import { driver } from './driver.ts';

/** `<log>.<noun>-<id>`. No log's name is a prefix of another's. */
export const wireName = (log: Log, streamId: string): string => `${log}.${streamId}`;
const prefixOf = (log: Log): string => `${log}.`;

const POSITION_MAX = 2n ** 63n - 1n;

/** The metadata of an event. */
type Beside = {
  readonly event_id: string;
  readonly schema_version: number;
  readonly time: string;
  readonly metadata: NewEvent['metadata'];
};

/** An append whose events are serialized, so that its size is known. */
export type Written = Append & {
  readonly spelled: readonly { readonly data: Buffer; readonly beside: Buffer }[];
  readonly bytes: number;
};

export function written(append: Append): Written {
  if (append.events.length === 0) throw new Error('an append carries one event or more');
  const spelled = append.events.map((event) => {
    const beside: Beside = {
      event_id: event.id,
      schema_version: event.schemaVersion,
      time: event.time.toISOString(),
      metadata: event.metadata,
    };
    return {
      data: Buffer.from(JSON.stringify(event.data)),
      beside: Buffer.from(JSON.stringify(beside)),
    };
  });
  const bytes = spelled.reduce((sum, { data, beside }) => sum + data.length + beside.length, 0);
  return { ...append, spelled, bytes };
}

/** The requests of one Append call. `wireIds` are the server's ids of the events. */
export function appendRequests(
  name: string,
  { events, spelled }: Written,
  expected: number,
  wireIds: readonly string[],
): readonly AppendReq[] {
  const { messages, shared } = driver();
  const options = new messages.AppendReq.Options();
  options.setStreamIdentifier(identifier(name));
  if (expected === 0) options.setNoStream(new shared.Empty());
  else options.setRevision(String(expected - 1));
  const proposed = spelled.map(({ data, beside }, index) => {
    const message = new messages.AppendReq.ProposedMessage();
    message.setId(new shared.UUID().setString(wireIds[index] ?? ''));
    message.getMetadataMap().set('type', events[index]?.type ?? '');
    message.getMetadataMap().set('content-type', 'application/json');
    message.setData(data);
    message.setCustomMetadata(beside);
    return new messages.AppendReq().setProposedMessage(message);
  });
  return [new messages.AppendReq().setOptions(options), ...proposed];
}

/** Up to `count` events of a stream from a revision (1) on, or only its last one. */
export function streamRequest(name: string, from: number | 'last', count: number): ReadReq {
  const { messages, shared } = driver();
  const stream = new messages.ReadReq.Options.StreamOptions();
  stream.setStreamIdentifier(identifier(name));
  const options = common(count).setStream(stream).setNoFilter(new shared.Empty());
  if (from === 'last') {
    stream.setEnd(new shared.Empty());
    options.setReadDirection(BACKWARDS);
  } else stream.setRevision(String(from - 1));
  return new messages.ReadReq().setOptions(options);
}

/** Up to `count` events of a log in order, from and including a position of the server's. */
export const logRequest = (log: Log, from: bigint, count: number): ReadReq =>
  new (driver().messages.ReadReq)().setOptions(
    common(count).setAll(placeIn(from)).setFilter(filterOf(log, READ_WINDOW_RECORDS)),
  );

/** The last event of a log or, without a log, of the server. */
export function lastRequest(log?: Log): ReadReq {
  const { messages, shared } = driver();
  const all = new messages.ReadReq.Options.AllOptions().setEnd(new shared.Empty());
  const options = common(1).setAll(all).setReadDirection(BACKWARDS);
  if (log === undefined) options.setNoFilter(new shared.Empty());
  else options.setFilter(filterOf(log, READ_WINDOW_RECORDS));
  return new messages.ReadReq().setOptions(options);
}

/** All events of a log after a position. The call has no end. */
export function followRequest(log: Log, after: bigint): ReadReq {
  const { messages } = driver();
  const options = common(undefined)
    .setAll(placeIn(after))
    .setFilter(filterOf(log, CHECKPOINT_RECORDS));
  options.setSubscription(new messages.ReadReq.Options.SubscriptionOptions());
  return new messages.ReadReq().setOptions(options);
}

const BACKWARDS = 1;
/** The number of records that the server reads between two checkpoints of a subscription. */
const CHECKPOINT_RECORDS = 32;
/** The number of records that the server reads at a time. It continues until it has as many as requested. */
const READ_WINDOW_RECORDS = 2000;

function common(count: number | undefined): ReadReq.Options {
  const { messages, shared } = driver();
  const options = new messages.ReadReq.Options();
  options.setUuidOption(new messages.ReadReq.Options.UUIDOption().setString(new shared.Empty()));
  if (count !== undefined) options.setCount(String(count));
  return options;
}

function placeIn(position: bigint): ReadReq.Options.AllOptions {
  const { messages, shared } = driver();
  const all = new messages.ReadReq.Options.AllOptions();
  if (position === 0n) return all.setStart(new shared.Empty());
  const place = new messages.ReadReq.Options.Position();
  place.setCommitPosition(position.toString());
  place.setPreparePosition(position.toString());
  return all.setPosition(place);
}

function filterOf(log: Log, windowRecords: number): ReadReq.Options.FilterOptions {
  const { messages } = driver();
  const expression = new messages.ReadReq.Options.FilterOptions.Expression();
  expression.setPrefixList([prefixOf(log)]);
  const filter = new messages.ReadReq.Options.FilterOptions();
  filter.setStreamIdentifier(expression);
  filter.setMax(windowRecords);
  filter.setCheckpointintervalmultiplier(1);
  return filter;
}

const identifier = (name: string) =>
  new (driver().shared.StreamIdentifier)().setStreamName(Buffer.from(name));

/** The position of a result of `$all`; undefined when the result is not an event. */
export function positionOf(answer: ReadResp): bigint | undefined {
  const event = answer.getEvent()?.getEvent();
  return event === undefined ? undefined : BigInt(event.getCommitPosition());
}

/** The event of a result in our form; undefined when the result is not an event. */
export function recorded(log: Log, answer: ReadResp): RecordedEvent | undefined {
  const event = answer.getEvent()?.getEvent();
  if (event === undefined) return undefined;
  const name = Buffer.from(event.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString();
  const position = BigInt(event.getCommitPosition());
  if (position > POSITION_MAX) throw new Error('EventStoreDB before 22.6 tells no positions');
  const type = event.getMetadataMap().get('type') ?? '';
  const { beside, data, fault } = decoded(event);
  return {
    log,
    streamId: name.slice(prefixOf(log).length),
    revision: Number(event.getStreamRevision()) + 1,
    position,
    id: beside.event_id,
    type,
    schemaVersion: beside.schema_version,
    time: new Date(beside.time),
    data,
    metadata: beside.metadata,
    ...(fault === undefined ? {} : { fault }),
  };
}

type Encoded = {
  getId(): { getString(): string } | undefined;
  getCustomMetadata_asU8(): Uint8Array;
  getData_asU8(): Uint8Array;
};

/** The content is left out for events of other software, which never uses these stream names. */
function decoded(event: Encoded): {
  readonly beside: Beside;
  readonly data: RecordedEvent['data'];
  readonly fault?: unknown;
} {
  try {
    return {
      beside: JSON.parse(textOf(event.getCustomMetadata_asU8())) as Beside,
      data: JSON.parse(textOf(event.getData_asU8())) as RecordedEvent['data'],
    };
  } catch (fault) {
    const event_id = event.getId()?.getString() ?? '';
    const metadata = { tenantId: '', actor: { type: 'system' as const, id: '' } };
    const time = new Date(0).toISOString();
    return { beside: { event_id, schema_version: 1, time, metadata }, data: {}, fault };
  }
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
