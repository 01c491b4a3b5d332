/**
 * Reads rows of a tenant's tuples together with the model that interprets them, from one snapshot of the tables. A
 * model and tuples of different times would give answers that were never true.
 */
import {
  computed,
  type Database,
  DatabaseUnavailable,
  orNull,
  type RowOf,
  type Selection,
  selection,
} from '@cardea/read-models';
import { EvaluationBudgetExceeded } from '../engine/tuple-index.ts';
import type { Work } from '../engine/work.ts';
import type { Types } from '../relations/rules.ts';

/** The most tuples that a question may read from the table. */
const ROWS_MAX = 200_000;
/** The most bytes of those tuples in the database. Objects in memory take several times as much. */
const ROWS_MAX_BYTES = 64 * 1024 * 1024;
const STATEMENT_MAX_MS = 2_000;
const QUERY_CANCELED = '57014';
/**
 * How often reading starts again after a new model was published. A tenant that publishes more models in that time does
 * so on purpose.
 */
const READS_MAX = 3;

/** A tenant's tuples, current or of an earlier time, and the limits on reading them. */
export type Source = {
  readonly tenantId: string;
  readonly work: Work;
  readonly asOf?: Date | undefined;
  /** A lower limit, for tests. */
  readonly rowsMaxBytes?: number;
};
/** A query for rows of (`relation`, …). $1 is the tenant. */
export type RowsQuery<R> = {
  readonly text: string;
  readonly select: Selection<R>;
  readonly order: string;
  readonly values: readonly unknown[];
};
type Model = { readonly version: number; readonly types: Types };
type RowsOfModel<R> = { readonly types: Types | undefined; readonly rows: readonly R[] };

/** Models were published faster than rows could be read. */
export class ModelChanged extends Error {
  override readonly name = 'ModelChanged';
}

/**
 * `queryFor` returns the query of the rows that matter under the model. Its argument is undefined if the tenant has no
 * own model.
 */
export async function rowsOfModel<R extends object>(
  database: Database,
  source: Source,
  queryFor: (types: Types | undefined) => RowsQuery<R>,
): Promise<RowsOfModel<R>> {
  for (let reads = 1; reads <= READS_MAX; reads++) {
    source.work.expectClient();
    const model = await modelOf(database, source);
    const found = await rowsWithVersion<R>(database, source, queryFor(model?.types));
    if (found.version === (model?.version ?? 0)) return { types: model?.types, rows: found.rows };
  }
  throw new ModelChanged();
}

/** These columns are in every row. If nothing was found, there is one row with nothing else. */
const MODEL = computed('model_version', 'model.version', 'integer').and(
  selection({ is_too_large: 'boolean', is_found: orNull('boolean') }),
);
const MODELS = `authz.models WHERE tenant_id = $1`;

async function modelOf(database: Database, { tenantId, asOf }: Source): Promise<Model | undefined> {
  const { rows } = await database.tenant(tenantId).query<Model>(
    `SELECT version, types FROM ${MODELS} AND ($2::timestamptz IS NULL OR published_at <= $2)
     ORDER BY version DESC LIMIT 1`,
    [tenantId, asOf ?? null],
  );
  return rows[0];
}

/**
 * Reads the rows and the model's version in one statement and therefore one snapshot. If it takes too long or returns
 * too much, the question counts as too large; the database refuses before it sends the rows.
 */
async function rowsWithVersion<R extends object>(
  database: Database,
  { tenantId, asOf, rowsMaxBytes = ROWS_MAX_BYTES }: Source,
  { text, select, order, values }: RowsQuery<R>,
): Promise<{ readonly version: number; readonly rows: readonly R[] }> {
  const moment = `$${values.length + 2}::timestamptz`;
  const statement = {
    text: `WITH found AS MATERIALIZED (
        SELECT true AS is_found, every.* FROM (${text}) AS every LIMIT ${ROWS_MAX + 1}),
      size AS (SELECT count(*) > ${ROWS_MAX}
          OR coalesce(sum(pg_column_size(found)), 0) > ${rowsMaxBytes} AS is_too_large FROM found)
      SELECT ${MODEL.and(select).columns}
      FROM (SELECT coalesce(max(version), 0) AS version FROM ${MODELS}
        AND (${moment} IS NULL OR published_at <= ${moment})) AS model
      CROSS JOIN size LEFT JOIN found ON NOT is_too_large
      ORDER BY ${order}`,
    values: [tenantId, ...values, asOf ?? null],
  };
  const answers = await database
    .asTenantAtOnce<[object, object, RowOf<typeof MODEL> & R]>(tenantId, [
      { text: `SET LOCAL statement_timeout = ${STATEMENT_MAX_MS}` },
      // PostgreSQL overestimates recursive queries so much that it would compile each one, so JIT is off.
      { text: 'SET LOCAL jit = off' },
      statement,
    ])
    .catch((error: unknown) => {
      throw isTimeout(error) ? new EvaluationBudgetExceeded() : error;
    });
  const rows = answers[2]?.rows ?? [];
  if (rows[0]?.is_too_large === true) throw new EvaluationBudgetExceeded();
  const version = rows[0]?.model_version ?? 0;
  return { version, rows: rows[0]?.is_found === null ? [] : rows };
}

const isTimeout = (error: unknown): boolean =>
  error instanceof DatabaseUnavailable &&
  (error.cause as { readonly code?: unknown } | undefined)?.code === QUERY_CANCELED;
