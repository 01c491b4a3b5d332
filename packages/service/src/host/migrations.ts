/** The schemas of a service and of its packages, which are migrated on request and awaited at the start. */
import { busMigrations } from '@cardea/event-bus';
import { eventStoreMigrations } from '@cardea/event-store';
import {
  isRestoreMigration,
  type MigrationSet,
  type MigrationState,
  migrate,
  pendingMigrations,
  RESTORING,
  refuseSharedSessions,
  rolesOf,
} from '@cardea/read-models';
import type { Clock, Logger, Settings } from '@cardea/runtime';
import type { ServiceDefinition } from '../service.ts';

const WAIT_MS_MAX = 120_000;
const LOOK_EVERY_MS = 500;

type Named = readonly Pick<ServiceDefinition, 'name' | 'migrations'>[];

/** Schemas of packages come first, because services depend on them. */
export const migrationSetsOf = (definitions: Named): readonly MigrationSet[] => [
  { schema: 'eventstore', migrations: eventStoreMigrations },
  { schema: 'bus', migrations: busMigrations },
  ...definitions.map(({ name, migrations }) => ({ schema: name, migrations })),
];

/** Applies pending migrations as the owner role. Returns their names. */
export async function migrateServices(of: {
  readonly settings: Pick<Settings, 'DATABASE_URL' | 'MIGRATION_DATABASE_URL'>;
  readonly definitions: Named;
  readonly version: string;
  readonly log: Logger;
  /** See {@link MigrateOptions}. */
  readonly restoring?: boolean;
  readonly only?: ReadonlySet<string>;
}): Promise<readonly string[]> {
  const { settings, definitions, version, log, restoring, only } = of;
  const urls = [settings.MIGRATION_DATABASE_URL.reveal(), settings.DATABASE_URL.reveal()];
  const users = urls.map((url) => decodeURIComponent(new URL(url).username));
  const [owners = '', own = ''] = urls;
  await refuseSharedSessions(own);
  if (owners !== own) await refuseSharedSessions(owners, 'MIGRATION_DATABASE_URL');
  return migrate({
    connectionString: urls[0] ?? '',
    sets: migrationSetsOf(definitions),
    appVersion: version,
    log,
    ...(restoring === undefined ? {} : { restoring }),
    ...(only === undefined ? {} : { only }),
    ...(users.includes('') ? {} : { loginUsers: [...new Set(users)] }),
  });
}

/** The database did not reach the state that this version needs within the time that a start may wait. */
export class NotMigrated extends Error {
  override readonly name = 'NotMigrated';
}

/** Resolves when all migrations are applied. `waitingFor` gets those that are not. */
export async function awaitMigrations(of: {
  readonly settings: Pick<Settings, 'DATABASE_URL'>;
  readonly definitions: Named;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly waitingFor: Set<string>;
  readonly waitMs?: number;
}): Promise<void> {
  const { clock, waitingFor, waitMs = WAIT_MS_MAX } = of;
  const deadline = clock.monotonicMs() + waitMs;
  let told: string | undefined;
  let hasOwnSessions = false;
  for (;;) {
    if (!hasOwnSessions) {
      hasOwnSessions = await refuseSharedSessions(of.settings.DATABASE_URL.reveal());
    }
    const missing = await missingNow(of);
    if (told !== undefined) waitingFor.delete(told);
    if (missing === undefined) return;
    if (told === undefined) of.log.warn({ missing }, 'the start waits for migrations');
    told = `migrations: ${missing}`;
    waitingFor.add(told);
    if (clock.monotonicMs() >= deadline) throw new NotMigrated(missing);
    await clock.sleep(LOOK_EVERY_MS);
  }
}

async function missingNow(of: {
  readonly settings: Pick<Settings, 'DATABASE_URL'>;
  readonly definitions: Named;
  readonly version: string;
}): Promise<string | undefined> {
  const url = new URL(of.settings.DATABASE_URL.reveal());
  const [only, ...others] = of.definitions;
  const { system } = rolesOf(others.length === 0 ? only?.name : undefined);
  // The service's login user may have no privileges of its own, so it uses the role.
  url.searchParams.set('options', `-c role=${system}`);
  try {
    const state = await pendingMigrations({
      connectionString: url.href,
      sets: migrationSetsOf(of.definitions),
      appVersion: of.version,
    });
    return firstOf(state);
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    return `the database does not let us look (${String(code ?? 'no code')})`;
  }
}

function firstOf({ pending, changed, tooNew }: MigrationState): string | undefined {
  if (changed[0] !== undefined) return `${changed[0]} was applied and is another file now`;
  if (tooNew[0] !== undefined && isRestoreMigration(tooNew[0].name)) return RESTORING;
  if (tooNew[0] !== undefined) {
    return `${tooNew[0].name} is applied and needs version ${tooNew[0].minAppVersion}`;
  }
  return pending[0] === undefined ? undefined : `${pending[0]} is not applied`;
}
