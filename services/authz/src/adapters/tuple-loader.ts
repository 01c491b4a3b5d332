/** Reads a tenant's tuples from the table in one snapshot, with the position that the table had reached. */
import { computed, type Database, orNull, type RowOf, type Transaction } from '@cardea/read-models';
import { indexFor } from '../engine/model-index.ts';
import type { LoadedTuples, TenantSize } from '../engine/tenant-indexes.ts';
import type { TupleIndex } from '../engine/tuple-index.ts';
import { relationOf } from '../relations/relation.ts';
import type { Types } from '../relations/rules.ts';
import { tupleRows } from './tuple-rows.ts';

const SLICE_ROWS = 2_000;

/** Everything that determines an index besides the log up to its position. */
export type IndexBasis = { readonly text: string; readonly parked: ReadonlySet<string> };

const LOADED = computed('checkpoint', 'c.position', 'bigint')
  .and(
    // The version of the tenant's own model, if it has one.
    computed(
      'model',
      '(SELECT max(m.version) FROM authz.models m WHERE m.tenant_id = $1)',
      orNull('integer'),
    ),
  )
  // Null if the tenant has no tuple.
  .and(tupleRows.select('relation').of('t').joined())
  .and(
    tupleRows.select('own_relation', 'user_type', 'user_id', 'object_type', 'object_id').of('t'),
  );

/** A cursor sees the rows as of its declaration, however long the reading takes. */
const DECLARE = `DECLARE tenant_tuples NO SCROLL CURSOR FOR
  SELECT ${LOADED.columns}
  FROM authz.projection_checkpoints c LEFT JOIN authz.tuples t ON t.tenant_id = $1
  WHERE c.name = 'tuples' ORDER BY t.position`;

export function loadTuples(database: Database, tenantId: string): Promise<LoadedTuples> {
  return database.asSystem(
    async (sql) => {
      // The parked streams are read before the cursor. A stream that is parked in between causes a second load, never
      // an outdated grant.
      const parked = await parkedStreams(sql);
      await sql.query(DECLARE, [tenantId]);
      let index: TupleIndex | undefined;
      // The position is the same in every row.
      let position: bigint | undefined;
      const fetch = () => sql.query<RowOf<typeof LOADED>>(`FETCH ${SLICE_ROWS} FROM tenant_tuples`);
      let fetched = fetch();
      for (;;) {
        const { rows } = await fetched;
        index ??= indexFor(await typesOf(sql, tenantId, rows[0]?.model));
        // PostgreSQL reads the next rows while these are processed.
        if (rows.length === SLICE_ROWS) fetched = fetch();
        position ??= BigInt(rows[0]?.checkpoint ?? 0);
        for (const row of rows) {
          const { relation, own_relation, user_type, user_id, object_type, object_id } = row;
          if (relation === null) continue;
          const name = relationOf({ relation, own_relation });
          index.write({ user_type, user_id, relation: name, object_type, object_id });
        }
        if (rows.length < SLICE_ROWS) return { index, position, parked };
      }
    },
    { durable: false },
  );
}

/** A version never changes, so it may be read later than the rows. */
async function typesOf(
  sql: Transaction,
  tenantId: string,
  version: number | null | undefined,
): Promise<Types | undefined> {
  if (version == null) return undefined;
  const { rows } = await sql.query<{ types: Types }>(
    'SELECT types FROM authz.models WHERE tenant_id = $1 AND version = $2',
    [tenantId, version],
  );
  return rows[0]?.types;
}

/** An estimate of the tenant's number of tuples, and whether it has its own model. */
export async function sizeOf(database: Database, tenantId: string): Promise<TenantSize> {
  const { rows } = await database.tenant(tenantId).query<{ count: string; model: boolean }>(
    `SELECT coalesce(sum(n), 0) AS count,
         EXISTS (SELECT 1 FROM authz.models WHERE tenant_id = $1) AS model
       FROM authz.tuple_counts WHERE tenant_id = $1`,
    [tenantId],
  );
  return { tuples: Number(rows[0]?.count ?? 0), hasModel: rows[0]?.model === true };
}

async function parkedStreams(sql: Transaction): Promise<ReadonlySet<string>> {
  const { rows } = await sql.query<{ stream_id: string }>(
    `SELECT DISTINCT stream_id FROM authz.parked_events WHERE owner = 'projection:tuples'`,
  );
  return new Set(rows.map((row) => row.stream_id));
}

/**
 * Everything on which a saved index depends besides the log up to its position. With another log, another
 * table or other parked streams, the index would differ from the table.
 */
export async function indexBasis(database: Database): Promise<IndexBasis> {
  const { rows } = await database.system.query<{ epochs: string; parked: string[] }>(
    `SELECT concat_ws('/', (SELECT epoch FROM bus.log_epoch),
       (SELECT epoch FROM authz.projection_checkpoints WHERE name = 'tuples')) AS epochs,
       ARRAY(SELECT DISTINCT stream_id FROM authz.parked_events
         WHERE owner = 'projection:tuples' ORDER BY stream_id) AS parked`,
  );
  const { epochs = '', parked = [] } = rows[0] ?? {};
  return { text: [epochs, ...parked].join(), parked: new Set(parked) };
}

/**
 * A value that changes whenever rows change by something other than the log: a stream was parked or released, or the
 * table was rebuilt.
 */
export async function tableGeneration(database: Database): Promise<string> {
  const { rows } = await database.system.query<{ generation: string }>(
    `SELECT concat(
       (SELECT epoch FROM authz.projection_checkpoints WHERE name = 'tuples'), '/',
       (SELECT count(*) FROM authz.parked_events WHERE owner = 'projection:tuples'
         AND error_code IS NOT NULL)) AS generation`,
  );
  return rows[0]?.generation ?? '';
}
