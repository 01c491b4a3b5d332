/** The keys of encrypted fields of one service, in the table `subject_keys` of its schema. */
import type { SubjectKeyRow, SubjectKeyTable } from '@cardea/crypto';
import { type Database, orNull, type RowOf, selection } from '@cardea/postgres';
import { expectNoTransaction } from '@cardea/runtime';
import { perTurn } from './database/shared-transactions.ts';

const KEY = selection({
  subject_id: 'text',
  tenant_id: 'text',
  /** Null after the key was erased. */
  wrapped: orNull('bytea'),
  kek_id: 'text',
});

const ERASED_AT_ONCE = 500;

type Asked = {
  readonly row: SubjectKeyRow;
  readonly resolve: (stands: SubjectKeyRow | undefined) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Runs as `cardea_system`, durably, because if a key is lost, everything encrypted with it is lost. Keys that are
 * requested in one turn of the event loop are inserted in one statement.
 */
export function postgresSubjectKeys(database: Database, schema: string): SubjectKeyTable {
  const table = `${schema}.subject_keys`;
  const { columns } = KEY;
  // Inserts in the order of the subjects, so that two processes never deadlock.
  const insertKeys = {
    name: `${schema}_key_insert`,
    text: `WITH asked AS (
        SELECT * FROM unnest($1::text[], $2::text[], $3::bytea[], $4::text[]) AS a(${columns})
      ), inserted AS (
        INSERT INTO ${table} (${columns}) SELECT * FROM asked ORDER BY subject_id
        ON CONFLICT (subject_id) DO NOTHING RETURNING ${columns})
      SELECT ${columns} FROM inserted
      UNION ALL SELECT ${columns} FROM ${table} WHERE subject_id = ANY($1)`,
  };
  const read = async (subjectId: string): Promise<SubjectKeyRow | undefined> => {
    const { rows } = await database.system.query<RowOf<typeof KEY>>(
      {
        name: `${schema}_key_read`,
        text: `SELECT ${columns} FROM ${table} WHERE subject_id = $1`,
      },
      [subjectId],
    );
    return rows[0] && keyOf(rows[0]);
  };
  const insertAll = async (all: readonly Asked[]): Promise<void> => {
    try {
      const { rows } = await database.system.query<RowOf<typeof KEY>>(
        insertKeys,
        insertedColumns(all.map(({ row }) => row)),
      );
      const standing = new Map(rows.map((row) => [row.subject_id, keyOf(row)]));
      for (const { row, resolve } of all) resolve(standing.get(row.subjectId));
    } catch (error) {
      for (const { reject } of all) reject(error);
    }
  };
  const add = perTurn(insertAll);
  const insert = (row: SubjectKeyRow): Promise<SubjectKeyRow | undefined> => {
    expectNoTransaction('a key of an encrypted field');
    return new Promise((resolve, reject) => add({ row, resolve, reject }));
  };
  return {
    read,
    insertIfAbsent: async (row) => {
      // A row that another transaction has just inserted is not visible to the statement.
      const standing = (await insert(row)) ?? (await read(row.subjectId));
      if (standing === undefined)
        throw new Error('A subject key vanished; rows are never deleted.');
      return standing;
    },
    erase: async (subjectId) => {
      // A subject that never had a key gets an erased row, so that nothing is encrypted for it afterwards.
      await database.system.query(
        `INSERT INTO ${table} (${columns}, erased_at) VALUES ($1, '', NULL, '', now())
         ON CONFLICT (subject_id) DO UPDATE SET wrapped = NULL, erased_at = now()
         WHERE subject_keys.wrapped IS NOT NULL`,
        [subjectId],
      );
    },
    eraseSomeOf: async (tenantId) => {
      const { rows } = await database.system.query<{ subject_id: string }>(
        `UPDATE ${table} SET wrapped = NULL, erased_at = now()
         WHERE subject_id IN (
           SELECT subject_id FROM ${table}
           WHERE tenant_id = $1 AND wrapped IS NOT NULL AND subject_id NOT LIKE 'context:%'
           LIMIT ${ERASED_AT_ONCE})
         RETURNING subject_id`,
        [tenantId],
      );
      return rows.map(({ subject_id }) => subject_id);
    },
  };
}

const keyOf = (row: RowOf<typeof KEY>): SubjectKeyRow => ({
  subjectId: row.subject_id,
  tenantId: row.tenant_id,
  wrapped: row.wrapped,
  kekId: row.kek_id,
});

const insertedColumns = (rows: readonly SubjectKeyRow[]): readonly unknown[] => [
  rows.map(({ subjectId }) => subjectId),
  rows.map(({ tenantId }) => tenantId),
  rows.map(({ wrapped }) => wrapped),
  rows.map(({ kekId }) => kekId),
];

/**
 * Erases the keys `<kind>:<tenant>:<UTC day>` of all days before that one, up to a limit per call. Returns their
 * number.
 */
export async function eraseKeysOfDays(
  { system }: Pick<Database, 'system'>,
  schema: string,
  { kind, before }: { readonly kind: string; readonly before: string },
): Promise<number> {
  // The condition has to equal that of the partial index, or the index is not used.
  const { rowCount } = await system.query(
    `UPDATE ${schema}.subject_keys SET wrapped = NULL, erased_at = now()
     WHERE wrapped IS NOT NULL AND subject_id IN (
       SELECT subject_id FROM ${schema}.subject_keys
       WHERE wrapped IS NOT NULL
         AND (subject_id LIKE 'context:%' OR subject_id LIKE 'transient:%')
         AND right(subject_id, 10) < $2 AND subject_id LIKE $1 || ':%'
       LIMIT ${ERASED_AT_ONCE}
     )`,
    [kind, before],
  );
  return rowCount;
}
