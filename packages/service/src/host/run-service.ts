/**
 * Runs one service as a separate process: `serve`, or `migrate` and exit. It reads its settings, reports all faults in
 * them at once, and stops in order on a signal.
 */
import { availableParallelism } from 'node:os';
import { UnknownWrapKey } from '@cardea/crypto';
import { PortTaken } from '@cardea/http';
import { MigrationRefused, SharedSessions } from '@cardea/read-models';
import {
  formatFaults,
  logger,
  type RootLogger,
  type Settings,
  shutdown,
  startTelemetry,
  systemClock,
  takeSettings,
  warnOfPlaintext,
} from '@cardea/runtime';
import { internalBearers } from '../peers/internal-bearer.ts';
import { peersOverHttp } from '../peers/peers-over-http.ts';
import type { ServiceDefinition } from '../service.ts';
import { startHost } from './host.ts';
import { infrastructure } from './infrastructure.ts';
import { awaitMigrations, migrateServices, NotMigrated } from './migrations.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const EXIT_CONFIGURATION = 78;
const USAGE = `Usage: node src/main.ts [serve|migrate]

  serve    run the service (default)
  migrate  bring its schemas forward, and end
`;

export type ServiceProcess = {
  readonly version: string;
  /** The environment. Secrets are removed from it. */
  readonly env: { [name: string]: string | undefined };
  /** The arguments after the file's name. */
  readonly words: readonly string[];
};

type Ready = {
  readonly definition: ServiceDefinition;
  readonly settings: Settings;
  readonly version: string;
  readonly log: RootLogger;
};

export async function runService(
  definition: ServiceDefinition,
  { version, env, words }: ServiceProcess,
): Promise<void> {
  const [word = 'serve', ...more] = words;
  if (more.length > 0 || !['serve', 'migrate'].includes(word)) return end(USAGE, EXIT_USAGE);
  const read = takeSettings(env, { cpus: availableParallelism() });
  if ('faults' in read) return end(formatFaults(read.faults), EXIT_CONFIGURATION);
  const settings = read.ok;
  const log = logger({ service: definition.name, version, level: settings.LOG_LEVEL });
  warnOfPlaintext(settings, log);
  try {
    await (word === 'migrate' ? bringForward : serve)({ definition, settings, version, log });
  } catch (error) {
    log.flush();
    endWith(error, log);
  }
}

async function bringForward({ definition, ...of }: Ready): Promise<void> {
  const applied = await migrateServices({ ...of, definitions: [definition] });
  of.log.info({ applied: applied.length }, 'migrations are applied');
  of.log.flush();
}

async function serve({ definition, settings, version, log }: Ready): Promise<void> {
  const stopTelemetry = await startTelemetry(settings, { service: definition.name, version });
  const stopping = shutdown({
    clock: systemClock,
    log,
    delayMs: settings.SHUTDOWN_DELAY,
    timeoutMs: settings.SHUTDOWN_TIMEOUT,
    exit: (code) => {
      log.flush();
      process.exit(code);
    },
  });
  stopping.listen();
  const shared = infrastructure({ settings, version, log, service: definition.name });
  const elsewhere = peersOverHttp({
    settings,
    bearers: internalBearers(shared, [definition.name]),
    clock: shared.clock,
    log,
  });
  const host = await startHost({
    infrastructure: shared,
    definitions: [definition],
    port: settings.PORT,
    managementPort: settings.MANAGEMENT_PORT,
    internalPort: settings.INTERNAL_PORT,
    hosts: [settings.HOST ?? '::'],
    elsewhere: elsewhere.peers,
    before: (waitingFor) =>
      awaitMigrations({
        settings,
        definitions: [definition],
        version,
        clock: shared.clock,
        log,
        waitingFor,
      }),
  });
  stopping.onBegin(() => host.drain());
  stopping.onStop('telemetry', stopTelemetry);
  stopping.onStop('the connections', async () => {
    await elsewhere.close();
    await shared.close();
  });
  stopping.onStop('the service', () => host.stop());
  log.info({ port: host.port, internal_port: host.internalPort }, 'the service is ready');
}

function endWith(error: unknown, log: RootLogger): never {
  if (error instanceof NotMigrated) {
    return end(`The database is not at the state of this version: ${error.message}.`, EXIT_FAILED);
  }
  for (const refusal of [MigrationRefused, SharedSessions, UnknownWrapKey, PortTaken]) {
    if (error instanceof refusal) return end(error.message, EXIT_CONFIGURATION);
  }
  log.error({ err: error }, 'the service does not start');
  log.flush();
  process.exit(EXIT_FAILED);
}

function end(message: string, code: number): never {
  process.stderr.write(message.endsWith('\n') ? message : `${message}\n`);
  process.exit(code);
}
