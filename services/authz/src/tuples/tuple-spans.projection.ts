/**
 * Maintains table `tuple_spans`: from when to when each tuple existed. The clocks of processes differ, so the time of a
 * position is the latest time of any event of the tenant up to it. A state is valid from that time until a later time
 * appears in the log.
 */
import type { Recorded } from '@cardea/event-store';
import { orNull, projection, type Statement, table } from '@cardea/read-models';
import { nodeKey, wildcardKey } from '../adapters/tuple-key.ts';
import { columnsOf, readFields, UnreadableTuple } from '../relations/relation.ts';
import type { TupleEvent } from './tuple.ts';
import { keyOfStream } from './tuples.projection.ts';

const spans = table('tuple_spans', {
  key: ['id'],
  columns: {
    id: 'uuid',
    key: 'bytea',
    tenant_id: 'text',
    position: 'bigint',
    created_at: 'timestamptz',
    from_at: 'timestamptz',
    to_at: orNull('timestamptz'),
    relation: 'smallint',
    own_relation: orNull('text'),
    user_type: 'text',
    user_id: 'text',
    object_type: 'text',
    object_id: 'text',
    subject_key: 'uuid',
    object_key: 'uuid',
    object_wild: 'uuid',
  },
});
const clocks = table('tuple_clocks', {
  key: ['tenant_id'],
  columns: { tenant_id: 'text', at: 'timestamptz' },
});

export const tupleSpans = projection<TupleEvent>()({
  name: 'tuple_spans',
  log: 'authz',
  tables: [spans, clocks],
  isSpaced: true, // Questions about an earlier time may wait for a spaced batch.
  on: {},
  apply: {
    on: ['TupleWritten', 'TupleDeleted'],
    statements: (events, { schema }) => statements(events, schema),
  },
});

type Begun = ReturnType<typeof begun>;
type Ended = { readonly id: string; readonly tenant_id: string; readonly to_at: string };

/** Times are the latest in the batch so far. The statement raises them to the tenant's latest time before the batch. */
function statements(events: readonly Recorded<TupleEvent>[], schema: string): readonly Statement[] {
  const latest = new Map<string, number>();
  const started = new Map<string, Begun>();
  const ended: Ended[] = [];
  for (const event of events) {
    const tenantId = tenantOf(event);
    const atMs = Math.max(event.time.getTime(), latest.get(tenantId) ?? 0);
    latest.set(tenantId, atMs);
    const at = new Date(atMs).toISOString();
    const id = event.data.tuple_id;
    if (event.type === 'TupleWritten') started.set(id, begun(event, at));
    else {
      const sameBatch = started.get(id);
      if (sameBatch === undefined) ended.push({ id, tenant_id: tenantId, to_at: at });
      else started.set(id, { ...sameBatch, to_at: at });
    }
  }
  const ticks = [...latest].map(([tenant_id, atMs]) => ({
    tenant_id,
    at: new Date(atMs).toISOString(),
  }));
  const values = [[...started.values()], ended, ticks].map((rows) => JSON.stringify(rows));
  return [{ name: `tuple_spans_${schema}`, text: spanStatement(schema), values }];
}

const tenantOf = ({ metadata }: Recorded<TupleEvent>): string => metadata.tenantId;

function begun(event: Recorded<TupleEvent, 'TupleWritten'>, at: string) {
  const { data, position, streamId } = event;
  const key = keyOfStream(streamId);
  if (key === undefined) throw new UnreadableTuple();
  const fields = readFields(data);
  const { relation, ...names } = fields;
  return {
    ...names,
    id: data.tuple_id,
    key,
    tenant_id: tenantOf(event),
    position: position.toString(),
    created_at: data.created_at,
    from_at: at,
    to_at: null as string | null,
    ...columnsOf(relation),
    subject_key: nodeKey(fields.user_type, fields.user_id),
    object_key: nodeKey(fields.object_type, fields.object_id),
    object_wild: wildcardKey(fields.object_type),
  };
}

/** All parts see the table as it was before the statement, so none may need what another one writes. */
const spanStatement = (schema: string): string => `
  WITH begun AS (
    INSERT INTO ${schema}.tuple_spans (id, key, tenant_id, position, created_at, from_at, to_at, relation,
      own_relation, user_type, user_id, object_type, object_id, subject_key, object_key, object_wild)
    SELECT id, key, tenant_id, position, created_at, greatest(from_at, clock.at),
      CASE WHEN to_at IS NOT NULL THEN greatest(to_at, clock.at) END, relation,
      own_relation, user_type, user_id, object_type, object_id, subject_key, object_key, object_wild
    FROM jsonb_to_recordset($1::jsonb) AS row(id uuid, key bytea, tenant_id text, position bigint,
      created_at timestamptz, from_at timestamptz, to_at timestamptz, relation smallint,
      own_relation text, user_type text, user_id text, object_type text, object_id text,
      subject_key uuid, object_key uuid, object_wild uuid)
    LEFT JOIN ${schema}.tuple_clocks AS clock USING (tenant_id)
    ON CONFLICT (id) DO NOTHING
  ), ended AS (
    UPDATE ${schema}.tuple_spans AS t SET to_at = greatest(row.to_at, clock.at)
    FROM jsonb_to_recordset($2::jsonb) AS row(id uuid, tenant_id text, to_at timestamptz)
    LEFT JOIN ${schema}.tuple_clocks AS clock USING (tenant_id)
    WHERE t.id = row.id AND t.to_at IS NULL
  )
  INSERT INTO ${schema}.tuple_clocks AS t (tenant_id, at)
  SELECT tenant_id, at FROM jsonb_to_recordset($3::jsonb) AS row(tenant_id text, at timestamptz)
  ON CONFLICT (tenant_id) DO UPDATE SET at = greatest(t.at, excluded.at)`;
