/** Maintains table `tuples`, from which lists and indexes are read, and the number of tuples of each type. */
import type { Json } from '@cardea/contracts';
import type { Recorded } from '@cardea/event-store';
import { countTable, projection, type TableChange, table } from '@cardea/read-models';
import { nodeKey, wildcardKey } from '../adapters/tuple-key.ts';
import { tupleRows } from '../adapters/tuple-rows.ts';
import type { ModelPublished } from '../models/model.ts';
import { columnsOf, readFields, UnreadableTuple } from '../relations/relation.ts';
import type { TupleEvent } from './tuple.ts';

const STREAM = /^tuple-([0-9a-f]{64})$/;

/** The 32 bytes of the stream's id in PostgreSQL's notation; undefined for streams of other nouns. */
export const keyOfStream = (streamId: string): string | undefined => {
  const hex = STREAM.exec(streamId)?.[1];
  return hex === undefined ? undefined : `\\x${hex}`;
};

/** A parked stream remains counted until it is released. */
const counts = countTable('tuple_counts', { key: ['tenant_id', 'object_type'], counts: ['n'] });

const models = table('models', {
  key: ['tenant_id', 'version'],
  columns: { tenant_id: 'text', version: 'integer', published_at: 'timestamptz', types: 'jsonb' },
});

/** The projection includes models, so that an index is loaded from one position of both. */
export const tuplesTable = projection<TupleEvent | ModelPublished>()({
  name: 'tuples',
  log: 'authz',
  tables: [tupleRows, counts, models],
  on: {
    TupleWritten: written,
    ModelPublished: ({ data, metadata, time }) => [
      models.put({
        tenant_id: metadata.tenantId,
        version: data.version,
        published_at: time,
        types: data.types as Json,
      }),
    ],
    TupleDeleted: (event) => [...removed(event.streamId), counted(event, -1)],
  },
  // Tuples only grant, so a missing one is safer than one that may be stale.
  onParked: removed,
});

function written(event: Recorded<TupleEvent, 'TupleWritten'>): readonly TableChange[] {
  const { data, metadata, position, streamId } = event;
  const key = keyOfStream(streamId);
  if (key === undefined) throw new UnreadableTuple();
  const fields = readFields(data);
  return [
    tupleRows.put({
      key,
      tenant_id: metadata.tenantId,
      position,
      id: data.tuple_id,
      created_at: data.created_at,
      ...columnsOf(fields.relation),
      user_type: fields.user_type,
      user_id: fields.user_id,
      object_type: fields.object_type,
      object_id: fields.object_id,
      subject_key: nodeKey(fields.user_type, fields.user_id),
      object_key: nodeKey(fields.object_type, fields.object_id),
      object_wild: wildcardKey(fields.object_type),
    }),
    counted(event, 1),
  ];
}

function removed(streamId: string): readonly TableChange[] {
  const key = keyOfStream(streamId);
  return key === undefined ? [] : [tupleRows.remove({ key })];
}

const counted = ({ data, metadata }: Recorded<TupleEvent>, n: number): TableChange =>
  counts.add({ tenant_id: metadata.tenantId, object_type: readFields(data).object_type }, { n });
