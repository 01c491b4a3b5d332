import type { IntegrationEvent } from '@cardea/contracts';
import type { IHeaders, Message } from 'kafkajs';
import { keyOf, partitionOf } from '../partition.ts';

/**
 * An integration event as a record: CloudEvents 1.0 in binary mode, attributes as headers `ce_…`, `data`
 * as the value in JSON.
 */
export const recordOf = (event: IntegrationEvent): OutgoingRecord => {
  const key = keyOf(event);
  return {
    key,
    partition: partitionOf(key),
    value: Buffer.from(JSON.stringify(event.data)),
    headers: {
      'content-type': 'application/json',
      ce_specversion: SPEC_VERSION,
      ce_id: event.id,
      ce_type: event.type,
      ce_source: event.source,
      ce_subject: event.streamId,
      ce_time: event.time,
      ce_tenantid: event.tenantId,
      ce_position: event.position,
      ce_schemaversion: String(event.schemaVersion),
      ce_actortype: event.actor.type,
      ce_actorid: event.actor.id,
      ...given('ce_part', event.part),
      ...given('ce_released', event.released),
      ...given('ce_logepoch', event.logEpoch),
      ...given('ce_correlationid', event.correlationId),
      ...given('ce_causationid', event.causationId),
      ...given('ce_traceparent', event.traceparent),
    },
  };
};

export type OutgoingRecord = Message & { readonly value: Buffer };

/**
 * The event in a record, or the parsed value if the headers of an envelope are missing. The consumer then checks
 * whether it is readable.
 */
export const eventIn = (record: {
  readonly headers?: IHeaders | undefined;
  readonly value: Buffer | null;
}): unknown => {
  const data = parsed(record.value);
  const header = (name: string): string | undefined => textOf(record.headers?.[name]);
  if (header('ce_specversion') === undefined) return data;
  const part = header('ce_part');
  return {
    id: header('ce_id'),
    type: header('ce_type'),
    source: header('ce_source'),
    time: header('ce_time'),
    tenantId: header('ce_tenantid'),
    streamId: header('ce_subject'),
    position: header('ce_position'),
    ...given('part', part === undefined ? undefined : Number(part)),
    ...(header('ce_released') === 'true' ? { released: true } : {}),
    ...given('logEpoch', header('ce_logepoch')),
    schemaVersion: Number(header('ce_schemaversion')),
    actor: { type: header('ce_actortype'), id: header('ce_actorid') },
    ...given('correlationId', header('ce_correlationid')),
    ...given('causationId', header('ce_causationid')),
    ...given('traceparent', header('ce_traceparent')),
    data,
  };
};

/** The type of a record with an envelope, without parsing its value. */
export const typeIn = ({ headers }: Pick<Message, 'headers'>): string | undefined =>
  headers?.['ce_specversion'] === undefined ? undefined : textOf(headers['ce_type']);

/**
 * The record's position in the source's log. Undefined for a record that was sent late, because its position does not
 * belong to its partition.
 */
export const positionIn = ({
  headers,
}: Pick<Message, 'headers'>): { readonly position?: string; readonly part?: number } => {
  const position = textOf(headers?.['ce_position']);
  const isReadable = position !== undefined && POSITION.test(position);
  if (!isReadable || textOf(headers?.['ce_released']) === 'true') return {};
  return { position, part: Number(textOf(headers?.['ce_part']) ?? 0) };
};

const POSITION = /^[0-9]{1,19}$/;
const SPEC_VERSION = '1.0';

const given = <T extends string | number | boolean>(name: string, value: T | undefined) =>
  value === undefined ? {} : { [name]: name.startsWith('ce_') ? String(value) : value };

const textOf = (value: IHeaders[string]): string | undefined =>
  Array.isArray(value) ? value[0]?.toString() : value?.toString();

/** A value that is not JSON stays a string. As a dead letter it is stored unchanged. */
const parsed = (value: Buffer | null): unknown => {
  if (value === null) return null;
  const text = value.toString();
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};
