/** Starts an instance from valid settings and prints its banner. */
import { UnknownWrapKey } from '@cardea/crypto';
import { PortTaken } from '@cardea/http';
import { LocalPostgresError } from '@cardea/local-postgres';
import { MigrationRefused, SharedSessions } from '@cardea/read-models';
import {
  hostInUrl,
  logger,
  type Settings,
  shutdown,
  startTelemetry,
  systemClock,
  warnOfPlaintext,
} from '@cardea/runtime';
import type { DataFolder } from './data-folder.ts';
import { ownDatabase } from './own-database.ts';
import { startStandalone } from './standalone.ts';
import { writeAddresses } from './welcome/addresses.ts';
import { welcome } from './welcome/welcome.ts';

export type Serving = {
  readonly folder: DataFolder;
  readonly settings: Settings;
  readonly version: string;
  /** Whether the administrator's password was generated with the folder. */
  readonly ownPassword: boolean;
  /** `--share-dev-mailbox`. */
  readonly sharesDevelopment: boolean;
  /** Called with the function that stops our own PostgreSQL. That function is called last, even if the start fails. */
  readonly onDatabase: (stop: () => void) => void;
  readonly print: (text: string) => void;
  readonly exit: (code: number) => void;
};

/** Returns the configuration fault that prevents the start, or undefined if the instance serves. */
export async function serveFrom(serving: Serving): Promise<string | undefined> {
  try {
    await serve(serving);
    return undefined;
  } catch (error) {
    if (error instanceof PortTaken) return portTaken(error, serving.settings);
    for (const refusal of [LocalPostgresError, MigrationRefused, SharedSessions, UnknownWrapKey]) {
      if (error instanceof refusal) return error.message;
    }
    throw error;
  }
}

const portTaken = ({ port, message }: PortTaken, { MANAGEMENT_PORT }: Settings): string =>
  `${message} (${port === MANAGEMENT_PORT ? 'MANAGEMENT_PORT' : 'PORT or --port'})`;

async function serve({ folder, settings, version, ...serving }: Serving): Promise<void> {
  const log = logger({ service: 'standalone', version, level: settings.LOG_LEVEL });
  warnOfPlaintext(settings, log);
  const end = shutdown({
    clock: systemClock,
    log,
    delayMs: settings.SHUTDOWN_DELAY,
    timeoutMs: settings.SHUTDOWN_TIMEOUT,
    exit: serving.exit,
  });
  end.listen();
  end.onStop('telemetry', await startTelemetry(settings, { service: 'standalone', version }));
  let { DATABASE_URL: database, MIGRATION_DATABASE_URL: owners } = settings;
  let databaseFolder: string | undefined;
  if (database.reveal() === '') {
    const own = await ownDatabase(folder, log);
    serving.onDatabase(own.stop);
    database = own.url;
    owners = own.url;
    databaseFolder = own.folder;
  }
  const instance = await startStandalone({
    settings: { ...settings, DATABASE_URL: database, MIGRATION_DATABASE_URL: owners },
    version,
    log,
    sharesDevelopment: serving.sharesDevelopment,
  });
  end.onBegin(() => instance.drain());
  end.onStop('the services', () => instance.stop());
  const host = hostInUrl(settings.HOST);
  writeAddresses(folder.path, {
    pid: process.pid,
    api: `http://${host}:${instance.port}`,
    management: `http://${host}:${instance.managementPort}`,
  });
  const showsOwn =
    settings.ENV !== 'production' && (instance.onLoopback || serving.sharesDevelopment);
  const showPassword = serving.ownPassword && !folder.greeted && showsOwn;
  serving.print(
    await welcome(instance, {
      settings,
      showsMailbox: showsOwn,
      ownPassword: serving.ownPassword,
      adminPassword: showPassword ? folder.generated.ADMIN_PASSWORD : undefined,
      temporary: folder.temporary,
      databaseFolder: folder.temporary ? undefined : databaseFolder,
    }),
  );
  folder.markGreeted();
  log.info({ port: instance.port, management_port: instance.managementPort }, 'Cardea is ready');
}
