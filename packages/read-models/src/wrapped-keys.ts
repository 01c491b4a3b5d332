/**
 * Tables with keys that are wrapped under ENCRYPTION_KEY: reports which wrapping keys their rows use, and re-encrypts
 * rows under the current one. A row without a wrapped key was erased, and stays erased.
 */
import { type FieldBinding, rewrap, subjectKeyLocation, type WrapKeys } from '@cardea/crypto';
import { type Database, type RowOf, selection } from '@cardea/postgres';
import { failpoint } from '@cardea/runtime';

export type WrappedKeyTable = {
  /** The table's name with its schema. Re-encrypting changes its columns `wrapped` and `kek_id`. */
  readonly name: string;
  /** The `info` of `wrapKeys(settings, info)`. */
  readonly info: string;
  /** Columns of the primary key, with their types. */
  readonly key: { readonly [column: string]: 'text' | 'integer' };
  /** Columns besides the key that `placeOf` needs. */
  readonly further?: readonly string[];
  /** The location (AAD) to which a row's ciphertext is bound under that key. */
  readonly placeOf: (row: WrappedKeyRow, kekId: string) => FieldBinding;
};
export type WrappedKeyRow = { readonly [column: string]: unknown };

/** The keys of encrypted fields, which every service has. */
export const subjectKeyTable = (schema: string): WrappedKeyTable => ({
  name: `${schema}.subject_keys`,
  info: 'subject-wrap/v1',
  key: { subject_id: 'text' },
  further: ['tenant_id'],
  placeOf: (row, kekId) =>
    subjectKeyLocation({
      subjectId: String(row['subject_id']),
      tenantId: String(row['tenant_id']),
      kekId,
    }),
});

const BATCH_ROWS = 500;

/** Number of rows by the id of the key that wraps them. */
export async function rowsByKey(
  { system }: Pick<Database, 'system'>,
  { name }: WrappedKeyTable,
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await system.query<{ kek_id: string; rows: string }>(
    `SELECT kek_id, count(*) AS rows FROM ${name} WHERE wrapped IS NOT NULL GROUP BY kek_id`,
  );
  return new Map(rows.map((row) => [row.kek_id, Number(row.rows)]));
}

/** Ids of other keys that wrap rows. With the index, it is quick to find that there are none. */
export async function foreignKeysOf(
  { system }: Pick<Database, 'system'>,
  { name }: WrappedKeyTable,
  { current, previous }: WrapKeys,
): Promise<readonly string[]> {
  const known = previous === undefined ? [current.id] : [current.id, previous.id];
  const { rows } = await system.query<{ kek_id: string }>(
    `SELECT DISTINCT kek_id FROM ${name} WHERE wrapped IS NOT NULL AND (${otherThan(known)})`,
    known.toSorted(),
  );
  return rows.map(({ kek_id }) => kek_id);
}

/** The ranges before, between and after the ids, because an index finds ranges but not inequalities. */
const otherThan = (ids: readonly string[]): string =>
  ids.length === 1
    ? 'kek_id < $1 OR kek_id > $1'
    : 'kek_id < $1 OR (kek_id > $1 AND kek_id < $2) OR kek_id > $2';

/**
 * Re-encrypts every row whose key is not the current one. Returns their number. It can be interrupted and called again,
 * also concurrently. Throws `UnknownWrapKey` at a row of a third key.
 */
export async function rewrapTable(
  database: Pick<Database, 'system'>,
  table: WrappedKeyTable,
  keys: WrapKeys,
): Promise<number> {
  for (let count = 0; ; ) {
    const rows = await olderRows(database, table, keys);
    if (rows.length === 0) return count;
    count += await replace(database, table, { rows, keys });
    await failpoint('rewrap.mid');
  }
}

const WRAPPED = selection({ wrapped: 'bytea', kek_id: 'text' });
type WrappedKey = WrappedKeyRow & RowOf<typeof WRAPPED>;

async function olderRows(
  { system }: Pick<Database, 'system'>,
  { name, key, further = [] }: WrappedKeyTable,
  { current }: WrapKeys,
): Promise<readonly WrappedKey[]> {
  const columns = [...Object.keys(key), ...further, WRAPPED.columns].join(', ');
  const { rows } = await system.query<WrappedKey>(
    `SELECT ${columns} FROM ${name}
     WHERE wrapped IS NOT NULL AND (${otherThan([current.id])}) LIMIT ${BATCH_ROWS}`,
    [current.id],
  );
  return rows;
}

/** A row that another process re-encrypted or erased in the meantime is unchanged. */
async function replace(
  { system }: Pick<Database, 'system'>,
  { name, key, placeOf }: WrappedKeyTable,
  of: { readonly rows: readonly WrappedKey[]; readonly keys: WrapKeys },
): Promise<number> {
  const { rows, keys } = of;
  const columns = Object.entries(key);
  const again = rows.map((row) =>
    rewrap({ wrapped: row.wrapped, kekId: row.kek_id }, keys, (kekId) => placeOf(row, kekId)),
  );
  const arrays = columns.map(([, type], at) => `$${at + 4}::${type}[]`).join(', ');
  const names = columns.map(([column]) => column);
  const { rowCount } = await system.query(
    `UPDATE ${name} AS stored SET wrapped = again.wrapped, kek_id = $1
     FROM unnest($2::text[], $3::bytea[], ${arrays}) AS again (old, wrapped, ${names.join(', ')})
     WHERE ${names.map((column) => `stored.${column} = again.${column}`).join(' AND ')}
       AND stored.kek_id = again.old AND stored.wrapped IS NOT NULL`,
    [
      keys.current.id,
      rows.map((row) => row.kek_id),
      again.map(({ wrapped }) => wrapped),
      ...names.map((column) => rows.map((row) => row[column])),
    ],
  );
  return rowCount;
}
