/**
 * Writes a backup: the tables of one snapshot, without those that can be rebuilt from the others. All services may keep
 * running.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { SERVICE_NAMES, type ServiceName } from '@cardea/contracts';
import { LOG_NUMBERS } from '@cardea/event-store';
import {
  type CopiedTable,
  isRestoreMigration,
  openSnapshot,
  RESTORING,
  type TableSnapshot,
} from '@cardea/read-models';
import { migrationSetsOf, type Part } from '@cardea/service';
import type { Deployment } from '../cli/deployment.ts';
import { NotDone } from '../cli/failures.ts';
import { services } from '../services.ts';
import { FORMAT, keyIdsOf, type Manifest, type SavedTable, writeManifest } from './manifest.ts';
import { saveTables } from './save-tables.ts';

const OWNER_ONLY_FOLDER = 0o700;

/** Tables that are left out: topics start empty after a restore, and migrations create their own table. */
const NOT_SAVED = ['bus.log_epoch', 'bus.members', 'bus.partitions', 'bus.records'];

export async function makeBackup(
  deployment: Deployment,
  folder: string,
  onTable: (table: SavedTable) => void,
): Promise<Manifest> {
  makeFolder(folder);
  const { settings, version } = deployment;
  const shared = deployment.shared();
  // The heads are read before the snapshot, so the snapshot has the keys of all events up to them.
  const headsBefore = settings.EVENTSTORE_URL === undefined ? undefined : await headsOf(deployment);
  const snapshot = await openSnapshot(settings.DATABASE_URL.reveal());
  try {
    const migrations = await appliedIn(snapshot);
    const toSave = await tablesToSave(snapshot, deployment.parts());
    const tables = await saveTables({ snapshot, folder, tables: toSave, onSaved: onTable });
    const manifest: Manifest = {
      format: FORMAT,
      version,
      created_at: shared.clock.now().toISOString(),
      events: headsBefore === undefined ? 'included' : 'in_event_store_db',
      migrations,
      heads: headsBefore ?? (await headsIn(snapshot)),
      keys: keyIdsOf(shared),
      tables,
    };
    writeManifest(folder, manifest, shared);
    return manifest;
  } finally {
    await snapshot.close();
  }
}

/** Creates the folder. An existing one must be empty, so that two backups are never mixed. */
function makeFolder(folder: string): void {
  if (existsSync(folder) && readdirSync(folder).length > 0) {
    throw new NotDone('the folder of --out is not empty', 'folder_not_empty');
  }
  try {
    mkdirSync(folder, { recursive: true, mode: OWNER_ONLY_FOLDER });
    chmodSync(folder, OWNER_ONLY_FOLDER);
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    throw new NotDone(
      `the folder of --out cannot be made by user ${process.getuid?.()} (${code}): in containers it is 10001, who has to own the folder above`,
      'folder_not_writable',
    );
  }
}

const schemas = (): readonly string[] => migrationSetsOf(services).map(({ schema }) => schema);

async function tablesToSave(
  snapshot: TableSnapshot,
  parts: readonly Part[],
): Promise<readonly CopiedTable[]> {
  const projected = parts.flatMap(({ definition, service }) =>
    service.projections.flatMap(({ tables }) =>
      tables.map(({ name }) => `${definition.name}.${name}`),
    ),
  );
  const skipped = new Set([...NOT_SAVED, ...projected]);
  const all = await snapshot.tables(schemas());
  return all.filter(
    ({ schema, name }) => name !== 'schema_migrations' && !skipped.has(`${schema}.${name}`),
  );
}

async function appliedIn(snapshot: TableSnapshot): Promise<Manifest['migrations']> {
  const applied: [string, string][] = [];
  for (const schema of schemas()) {
    const { rows } = await snapshot.query<{ name: string; sha256: string }>(
      `SELECT name, sha256 FROM ${schema}.schema_migrations ORDER BY name`,
    );
    applied.push(
      ...rows.map(({ name, sha256 }) => [`${schema}/${name}`, sha256] as [string, string]),
    );
  }
  if (applied.some(([name]) => isRestoreMigration(name))) throw new NotDone(RESTORING);
  return Object.fromEntries(applied);
}

async function headsIn(snapshot: TableSnapshot): Promise<Manifest['heads']> {
  return await eachLog(async (log) => {
    const { rows } = await snapshot.query<{ head: string }>(
      'SELECT coalesce(max(position), 0) AS head FROM eventstore.events WHERE log = $1',
      [LOG_NUMBERS[log]],
    );
    return rows[0]?.head ?? '0';
  });
}

export const headsOf = (deployment: Deployment): Promise<Manifest['heads']> =>
  eachLog(async (log) => String(await deployment.shared().storeFor(log).head(log)));

async function eachLog(head: (log: ServiceName) => Promise<string>): Promise<Manifest['heads']> {
  const heads: [ServiceName, string][] = [];
  for (const log of SERVICE_NAMES) heads.push([log, await head(log)]);
  return Object.fromEntries(heads) as Manifest['heads'];
}
