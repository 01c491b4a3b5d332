/**
 * Restores a backup into an empty database. It checks the manifest and migrates the schemas to their saved state. It
 * loads the tables in one transaction and compares each file's hash while reading. Then it begins a new epoch of the
 * topics and rebuilds the projections. Any failure leaves the database empty again.
 */
import { randomUUID } from 'node:crypto';
import { beginEpoch, relayPositionKey, remakeTopics } from '@cardea/event-bus';
import {
  asOwner,
  beginRestore,
  endRestore,
  isRestoring,
  openLoad,
  plannedMigrations,
  RESTORING,
  rebuildProjection,
} from '@cardea/read-models';
import { migrateServices, migrationSetsOf, refuseForeignKeys } from '@cardea/service';
import { vaultOperations } from '@cardea/vault';
import { type Deployment, wrappedIn } from '../cli/deployment.ts';
import { NotDone } from '../cli/failures.ts';
import { kafkaOf } from '../cli/kafka.ts';
import { services } from '../services.ts';
import { eraseAgain, type LaterBackup, readLaterBackup } from './erase-again.ts';
import { headsOf } from './make-backup.ts';
import { keyIdsOf, type Manifest, newer, readManifest } from './manifest.ts';
import { checkFile, loadTable } from './table-files.ts';

export type RestoreStep =
  | { readonly checked: number }
  | { readonly loaded: string; readonly rows: number }
  | { readonly topics: number }
  | { readonly rebuilt: string; readonly position: string };

export type Restored = {
  readonly manifest: Manifest;
  readonly epoch: string;
  /** The position after which each log is relayed. */
  readonly relayedFrom: { readonly [log: string]: string };
  readonly parkedStreams: number;
  readonly hasSameJwtSecret: boolean;
};

type Restoring = {
  readonly deployment: Deployment;
  readonly folder: string;
  readonly manifest: Manifest;
  readonly owner: string;
  /** A later backup, which lists what was erased since. */
  readonly later: LaterBackup | undefined;
  readonly tell: (step: RestoreStep) => void;
};

export type RestoreFolders = {
  readonly folder: string;
  /** The folder of a later backup of the same deployment. */
  readonly erasedFolder: string | undefined;
};

export async function restoreBackup(
  deployment: Deployment,
  { folder, erasedFolder }: RestoreFolders,
  tell: (step: RestoreStep) => void,
): Promise<Restored> {
  const { settings, version } = deployment;
  const shared = deployment.shared();
  const manifest = readManifest(folder, shared);
  await refuseUnknownMigrations(manifest);
  refuseOtherStore(deployment, manifest);
  for (const table of manifest.tables) checkFile(folder, table);
  tell({ checked: manifest.tables.length });
  const later =
    erasedFolder === undefined ? undefined : await readLaterBackup(erasedFolder, manifest, shared);
  const owner = settings.MIGRATION_DATABASE_URL.reveal();
  await refuseUsed(owner);
  const restoring: Restoring = { deployment, folder, manifest, owner, later, tell };
  try {
    await asOwner(owner, (sql) => beginRestore(sql, version));
    const only = new Set(Object.keys(manifest.migrations));
    const migrating = { settings, definitions: services, version, log: deployment.log };
    await migrateServices({ ...migrating, restoring: true, only });
    const { epoch, relayedFrom } = await load(restoring);
    await migrateServices({ ...migrating, restoring: true });
    await refuseForeignKeys(wrappedIn(deployment));
    await expectHeads(restoring);
    if (later !== undefined) await destroyErased(deployment);
    await beginTopics(restoring);
    const parkedStreams = await rebuildAll(restoring);
    await asOwner(owner, endRestore);
    const hasSameJwtSecret = keyIdsOf(shared).jwt_secret === manifest.keys.jwt_secret;
    return { manifest, epoch, relayedFrom, parkedStreams, hasSameJwtSecret };
  } catch (error) {
    await emptyAgain(owner).catch(() => undefined); // If this fails, the mark keeps every process from starting.
    throw error;
  }
}

/** An older backup is migrated after it is loaded. A backup with migrations that this version lacks is refused. */
async function refuseUnknownMigrations({ migrations, version }: Manifest): Promise<void> {
  const planned = await plannedMigrations(migrationSetsOf(services));
  const isKnown = Object.entries(migrations).every(
    ([name, sha256]) => planned.get(name) === sha256,
  );
  if (!isKnown) throw newer(version);
}

function refuseOtherStore({ settings }: Deployment, { events }: Manifest): void {
  const isElsewhere = settings.EVENTSTORE_URL !== undefined;
  if (isElsewhere === (events === 'in_event_store_db')) return;
  throw new NotDone(
    isElsewhere
      ? 'the backup holds the events, and EVENTSTORE_URL is set: events are not moved'
      : 'the events are in EventStoreDB: restore that first, and set EVENTSTORE_URL',
    'other_event_store',
  );
}

const schemas = (): readonly string[] => migrationSetsOf(services).map(({ schema }) => schema);

async function refuseUsed(owner: string): Promise<void> {
  await asOwner(owner, async (sql) => {
    if (await isRestoring(sql)) throw new NotDone(RESTORING, 'restore_broken_off');
    const { rowCount } = await sql.query('SELECT FROM pg_namespace WHERE nspname = ANY($1)', [
      schemas(),
    ]);
    if (rowCount === 0) return;
    throw new NotDone(
      'the database is not empty: restore into a new one, so that nothing is lost',
      'database_not_empty',
    );
  });
}

async function load({ deployment, folder, manifest, owner, later, tell }: Restoring) {
  const consumers = deployment
    .parts()
    .flatMap(({ definition, service }) =>
      service.consumers.map(({ name, topics }) => ({ schema: definition.name, name, topics })),
    );
  const heads = manifest.events === 'included' ? manifest.heads : await headsOf(deployment);
  const tables = await openLoad(owner);
  try {
    for (const table of manifest.tables) {
      await tables.prepare(table);
      await loadTable(tables, folder, table);
      tell({ loaded: `${table.schema}.${table.name}`, rows: table.rows });
    }
    if (later !== undefined) await eraseAgain(tables, later);
    const epoch = randomUUID();
    const from = await beginEpoch(tables, { epoch, consumers, heads });
    await tables.commit();
    const relayedFrom = Object.fromEntries([...from].map(([log, at]) => [log, String(at)]));
    return { epoch, relayedFrom };
  } finally {
    await tables.close();
  }
}

/** Checks that the loaded log equals the saved one, with the same position at its end. */
async function expectHeads({ deployment, manifest }: Restoring): Promise<void> {
  if (manifest.events !== 'included') return;
  const heads = await headsOf(deployment);
  for (const [log, head] of Object.entries(manifest.heads)) {
    if (heads[log as keyof typeof heads] === head) continue;
    throw new NotDone(`the log of ${log} ends elsewhere than when it was saved`, 'backup_damaged');
  }
}

/** Resets the positions that the cache and the topics stored before the restore, because they are wrong now. */
async function beginTopics({ deployment, manifest, tell }: Restoring): Promise<void> {
  const client = kafkaOf(deployment);
  if (client !== undefined) {
    const { KAFKA_REPLICATION: replication } = deployment.settings;
    tell({ topics: (await remakeTopics(client, { replication })).length });
  }
  const { cache } = deployment.shared();
  for (const log of Object.keys(manifest.heads)) await cache.delete(relayPositionKey(log));
}

async function destroyErased(deployment: Deployment): Promise<void> {
  const vault = deployment.parts().find(({ definition }) => definition.name === 'vault');
  if (vault !== undefined) await vaultOperations(vault.needs).destroyErased();
}

async function rebuildAll({ deployment, owner, tell }: Restoring): Promise<number> {
  let parkedStreams = 0;
  for (const { definition, service, needs } of deployment.parts()) {
    for (const projection of service.projections) {
      const rebuilt = await rebuildProjection({
        connectionString: owner,
        projection,
        schema: definition.name,
        store: needs.store,
        open: (sealed, place) => needs.sealer.open(sealed, place),
        log: deployment.log,
      });
      parkedStreams += rebuilt.parkedStreams;
      const position = String(rebuilt.position);
      tell({ rebuilt: `${definition.name}.${projection.name}`, position });
    }
  }
  return parkedStreams;
}

async function emptyAgain(owner: string): Promise<void> {
  await asOwner(owner, async (sql) => {
    for (const schema of schemas()) await sql.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  });
}
