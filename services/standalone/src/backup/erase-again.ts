/**
 * After a restore, erases everything again that a later backup of the same deployment lists as erased: destroyed
 * versions of secrets, and the keys of deleted tenants.
 */
import type { TableLoad } from '@cardea/read-models';
import { NotDone } from '../cli/failures.ts';
import { type Manifest, readManifest, type SavedTable } from './manifest.ts';
import { checkFile, loadTable } from './table-files.ts';

export type LaterBackup = { readonly folder: string; readonly manifest: Manifest };

const VERSIONS = 'secret_versions';
const KEYS = 'tenant_keys';
const ofVault = ({ tables }: Manifest, name: string): readonly SavedTable[] =>
  tables.filter((table) => table.schema === 'vault' && table.name === name);

/** Throws unless the backup is complete, of this deployment, and later than the one that is restored. */
export async function readLaterBackup(
  folder: string,
  restored: Manifest,
  keys: Parameters<typeof readManifest>[1],
): Promise<LaterBackup> {
  const manifest = readManifest(folder, keys);
  if (manifest.created_at <= restored.created_at) {
    throw new NotDone(
      'the backup of --erased is not later than the one of --in, so it knows of no later erasure',
      'erased_not_later',
    );
  }
  for (const name of [VERSIONS, KEYS]) {
    for (const table of ofVault(manifest, name)) await checkFile(folder, table);
  }
  return { folder, manifest };
}

/** Runs inside the transaction of the load, after its tables. */
export async function eraseAgain(tables: TableLoad, later: LaterBackup): Promise<void> {
  const versions = await loadBeside(tables, later, VERSIONS);
  const keys = await loadBeside(tables, later, KEYS);
  await tables.query(
    `UPDATE vault.secret_versions AS v SET blob = NULL, destroyed_at = now()
     FROM ${versions} AS l
     WHERE v.tenant_id = l.tenant_id AND v.secret_id = l.secret_id::uuid AND l.blob IS NULL
       AND v.blob IS NOT NULL`,
  );
  await tables.query(
    `UPDATE vault.tenant_keys AS k SET wrapped = NULL, state = 'shredded'
     FROM ${keys} AS l WHERE k.tenant_id = l.tenant_id AND l.state = 'shredded'`,
  );
  await tables.query(
    `UPDATE vault.secret_versions AS v SET blob = NULL, destroyed_at = now()
     FROM vault.tenant_keys AS k
     WHERE v.tenant_id = k.tenant_id AND k.state = 'shredded' AND v.blob IS NOT NULL`,
  );
}

/**
 * Loads the backup's later rows into a temporary table of text columns, because they may have columns that the restored
 * table lacks.
 */
async function loadBeside(
  tables: TableLoad,
  { folder, manifest }: LaterBackup,
  name: string,
): Promise<string> {
  const temporary = `later_${name}`;
  const parts = ofVault(manifest, name);
  const columns = (parts[0]?.columns ?? []).map((column) => `"${column}" text`).join(', ');
  await tables.query(`CREATE TEMPORARY TABLE ${temporary} (${columns}) ON COMMIT DROP`);
  for (const part of parts) {
    await loadTable(tables, folder, { ...part, schema: 'pg_temp', name: temporary });
  }
  return temporary;
}
