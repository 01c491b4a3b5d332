/** Reads tuples from the table in the form that clients see. */
import type { Database, RowOf } from '@cardea/read-models';
import { tupleKey } from '../adapters/tuple-key.ts';
import { tupleRows } from '../adapters/tuple-rows.ts';
import { type Fields, relationOf } from '../relations/relation.ts';

export const TUPLE = tupleRows.select(
  'id',
  'tenant_id',
  'user_type',
  'user_id',
  'relation',
  'own_relation',
  'object_type',
  'object_id',
  'created_at',
);

export const shownTuple = ({ own_relation, ...row }: RowOf<typeof TUPLE>) => ({
  ...row,
  relation: relationOf({ ...row, own_relation }),
  created_at: row.created_at.toISOString(),
});
export type ShownTuple = ReturnType<typeof shownTuple>;

const HISTORY = `(
  SELECT * FROM authz.tuple_spans
  WHERE from_at <= $3::timestamptz AND (to_at IS NULL OR to_at > $3::timestamptz)) AS span`;

/** The tuples, now or at an earlier time, in the requested order. Undefined if one of them is not in the table. */
export async function storedTuples(
  database: Database,
  { tenantId, asOf }: { readonly tenantId: string; readonly asOf?: Date | undefined },
  asked: readonly Fields[],
): Promise<readonly ShownTuple[] | undefined> {
  if (asked.length === 0) return [];
  const keys = asked.map((fields) => tupleKey(tenantId, fields));
  const { rows } = await database.asTenant(tenantId, (sql) =>
    sql.query<RowOf<typeof TUPLE> & { readonly key: string }>(
      `SELECT encode(key, 'hex') AS key, ${TUPLE.columns} FROM ${asOf ? HISTORY : 'authz.tuples'}
       WHERE tenant_id = $1 AND key = ANY (SELECT decode(hex, 'hex') FROM unnest($2::text[]) AS hex)`,
      [tenantId, keys, ...(asOf ? [asOf] : [])],
    ),
  );
  const found = new Map(rows.map(({ key, ...row }) => [key, shownTuple(row)]));
  const inOrder = keys.flatMap((key) => found.get(key) ?? []);
  return inOrder.length === keys.length ? inOrder : undefined;
}
