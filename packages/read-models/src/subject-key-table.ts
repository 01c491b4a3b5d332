/** The keys of encrypted fields of one service, in the table `subject_keys` of its schema. */
import type { SubjectKeyRow, SubjectKeyTable } from '@cardea/crypto';
import type { Database } from './database.ts';

type Row = { subject_id: string; tenant_id: string; wrapped: Buffer | null; kek_id: string };

/**
 * Runs as `cardea_system`, one durable statement each: when a key is lost, so is all that was encrypted
 * with it.
 */
export function postgresSubjectKeys(database: Database, schema: string): SubjectKeyTable {
  const table = `${schema}.subject_keys`;
  const columns = 'subject_id, tenant_id, wrapped, kek_id';
  const read = async (subjectId: string): Promise<SubjectKeyRow | undefined> => {
    const { rows } = await database.system.query<Row>(
      {
        name: `${schema}_key_read`,
        text: `SELECT ${columns} FROM ${table} WHERE subject_id = $1`,
      },
      [subjectId],
    );
    return rows[0] && keyOf(rows[0]);
  };
  return {
    read,
    insertIfAbsent: async (row) => {
      const { rows } = await database.system.query<Row>(
        {
          name: `${schema}_key_insert`,
          text: `WITH inserted AS (
            INSERT INTO ${table} (${columns}) VALUES ($1, $2, $3, $4)
            ON CONFLICT (subject_id) DO NOTHING RETURNING ${columns})
          SELECT ${columns} FROM inserted
          UNION ALL SELECT ${columns} FROM ${table} WHERE subject_id = $1`,
        },
        [row.subjectId, row.tenantId, row.wrapped, row.kekId],
      );
      // A row that another transaction has inserted meanwhile is not visible to this statement.
      const standing = rows[0] === undefined ? await read(row.subjectId) : keyOf(rows[0]);
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
  };
}

const keyOf = (row: Row): SubjectKeyRow => ({
  subjectId: row.subject_id,
  tenantId: row.tenant_id,
  wrapped: row.wrapped,
  kekId: row.kek_id,
});

const ERASED_AT_ONCE = 500;

/**
 * Erases the keys `<kind>:<tenant>:<UTC day>` of all days before that one, up to a limit per call; returns
 * how many.
 */
export async function eraseKeysOfDays(
  { system }: Pick<Database, 'system'>,
  schema: string,
  { kind, before }: { readonly kind: string; readonly before: string },
): Promise<number> {
  // The condition has to be spelled like that of the partial index, or the index is not used.
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
