/**
 * Maintains table `tuple_spans`: from when to when each tuple existed. The clocks of processes differ, so a
 * moment is the latest time of any event of the tenant up to there: what is true at it is what a replay of
 * the log shows until a later time comes.
 */
import type { Recorded } from '@cardea/event-store';
import { orNull, projection, type Transaction, table } from '@cardea/read-models';
import { nodeKey } from '../adapters/tuple-key.ts';
import { numberOf, readFields, type TupleEvent, UnreadableTuple, WILDCARD } from './tuple.ts';
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
  on: {},
  apply: {
    on: ['TupleWritten', 'TupleDeleted'],
    run: (sql, events, { schema }) => apply(sql, events, schema),
  },
});

type Begun = ReturnType<typeof begun>;
type Ended = { readonly id: string; readonly to_at: string };

async function apply(
  sql: Transaction,
  events: readonly Recorded<TupleEvent>[],
  schema: string,
): Promise<void> {
  const latest = await latestTimes(sql, [...new Set(events.map(tenantOf))], schema);
  const started: Begun[] = [];
  const ended: Ended[] = [];
  for (const event of events) {
    const tenantId = tenantOf(event);
    const atMs = Math.max(event.time.getTime(), latest.get(tenantId) ?? 0);
    latest.set(tenantId, atMs);
    const at = new Date(atMs).toISOString();
    if (event.type === 'TupleWritten') started.push(begun(event, at));
    else ended.push({ id: event.data.tuple_id, to_at: at });
  }
  const ticks = [...latest].map(([tenant_id, atMs]) => ({
    tenant_id,
    at: new Date(atMs).toISOString(),
  }));
  await sql.together([
    { text: begin(schema), values: [JSON.stringify(started)] },
    { text: end(schema), values: [JSON.stringify(ended)] },
    { text: tick(schema), values: [JSON.stringify(ticks)] },
  ]);
}

const tenantOf = ({ metadata }: Recorded<TupleEvent>): string => metadata.tenantId;

async function latestTimes(
  sql: Transaction,
  tenantIds: readonly string[],
  schema: string,
): Promise<Map<string, number>> {
  const { rows } = await sql.query<{ tenant_id: string; at: Date }>(
    `SELECT tenant_id, at FROM ${schema}.tuple_clocks WHERE tenant_id = ANY ($1::text[])`,
    [tenantIds],
  );
  return new Map(rows.map(({ tenant_id, at }) => [tenant_id, at.getTime()]));
}

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
    relation: numberOf[relation],
    subject_key: nodeKey(fields.user_type, fields.user_id),
    object_key: nodeKey(fields.object_type, fields.object_id),
    object_wild: nodeKey(fields.object_type, WILDCARD),
  };
}

const begin = (schema: string): string => `
  INSERT INTO ${schema}.tuple_spans (id, key, tenant_id, position, created_at, from_at, relation,
    own_relation, user_type, user_id, object_type, object_id, subject_key, object_key, object_wild)
  SELECT id, key, tenant_id, position, created_at, from_at, relation, own_relation, user_type,
    user_id, object_type, object_id, subject_key, object_key, object_wild
  FROM jsonb_to_recordset($1::jsonb) AS row(id uuid, key bytea, tenant_id text, position bigint,
    created_at timestamptz, from_at timestamptz, relation smallint, own_relation text,
    user_type text, user_id text, object_type text, object_id text, subject_key uuid,
    object_key uuid, object_wild uuid)
  ON CONFLICT (id) DO NOTHING`;

/** A tuple that is deleted in the batch that wrote it was inserted by the statement before. */
const end = (schema: string): string => `
  UPDATE ${schema}.tuple_spans AS t SET to_at = row.to_at
  FROM jsonb_to_recordset($1::jsonb) AS row(id uuid, to_at timestamptz)
  WHERE t.id = row.id AND t.to_at IS NULL`;

const tick = (schema: string): string => `
  INSERT INTO ${schema}.tuple_clocks AS t (tenant_id, at)
  SELECT tenant_id, at FROM jsonb_to_recordset($1::jsonb) AS row(tenant_id text, at timestamptz)
  ON CONFLICT (tenant_id) DO UPDATE SET at = excluded.at`;
