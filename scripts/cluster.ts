/**
 * `npm run cluster [-- --temp --data DIR --port N --replicas N --eventstore]`: the six services as
 * processes of their own, with everything around them, until Ctrl-C.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import {
  type Cluster,
  type Addresses as ClusterAddresses,
  fetchKafka,
  LOOPBACK,
  lastOf,
  missingPrograms,
  type Options,
  readOptions,
  ServiceEnded,
  type ServiceProcess,
  Stops,
  startCluster,
  USAGE,
} from '@cardea/cluster';
import { LocalPostgresError } from '@cardea/local-postgres';
import { isLoopbackHost, SETTING_FORMS } from '@cardea/runtime';
import {
  banner,
  type DataFolder,
  DEFAULT_APPLICATION,
  FolderInUse,
  openDataFolder,
} from '@cardea/standalone';
import { Client } from 'pg';
import { nginxCommand, startGateway } from './gateway/start.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const EXIT_CONFIGURATION = 78;
const DEFAULT_FOLDER = '.cardea/cluster';
const DEFAULT_PORT = 8080;
/** Signals within this time count as one Ctrl-C, which arrives from the terminal and is forwarded too. */
const SAME_SIGNAL_MS = 1_000;
/** The pause before a process that has ended is restarted. */
const RESTART_PAUSE_MS = 1_000;

const stops = new Stops();
let stoppingSince: number | undefined;

async function run(given: Options): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => void stop(0));
  }
  try {
    await start(given);
  } catch (error) {
    if (stoppingSince !== undefined) return;
    if (error instanceof FolderInUse || error instanceof LocalPostgresError) {
      return fail(error.message, EXIT_CONFIGURATION);
    }
    process.stderr.write(`${error instanceof ServiceEnded ? error.message : trace(error)}\n`);
    await stop(EXIT_FAILED);
  }
}

async function start(given: Options): Promise<void> {
  const env = settingsIn(process.env);
  const { DATABASE_URL, REDIS_URL, KAFKA_BROKERS, EVENTSTORE_URL, ...settings } = env;
  const needs = {
    redis: REDIS_URL === undefined,
    nginx: nginxCommand() === undefined,
    kafka: KAFKA_BROKERS === undefined,
  };
  const missing = missingPrograms(needs);
  if (missing !== '') return fail(missing, EXIT_CONFIGURATION);
  const unfetched = needs.kafka ? fetchKafka(say) : undefined;
  if (unfetched !== undefined) return fail(unfetched, EXIT_CONFIGURATION);
  const host = settings['HOST'] ?? LOOPBACK;
  const port = given.port ?? (Number(env['PORT']) || (given.temp ? undefined : DEFAULT_PORT));
  if (port !== undefined && !(await isFree(port, host))) {
    return fail(`port ${port} is taken (PORT or --port)`, EXIT_CONFIGURATION);
  }
  const folder = openDataFolder(
    given.temp ? 'temporary' : { path: given.data ?? env['CARDEA_DATA'] ?? DEFAULT_FOLDER },
  );
  process.once('exit', () => folder.release());
  const { generated } = folder;
  const ownAdmin = settings['ADMIN_EMAIL'] === undefined;
  const cluster = await startCluster(
    {
      folder: folder.path,
      temporary: folder.temporary,
      replicas: given.replicas,
      port,
      host,
      postgresPassword: generated.POSTGRES_PASSWORD,
      env: { ...environmentOf(generated, settings), CARDEA_DATA: folder.path },
      given: {
        databaseUrl: DATABASE_URL,
        redisUrl: REDIS_URL,
        kafkaBrokers: KAFKA_BROKERS,
        eventstoreUrl: EVENTSTORE_URL,
      },
      standIn: given.eventstore,
      say,
      startGateway,
    },
    stops,
  );
  for (const each of cluster.processes) void keepUp(cluster, each);
  const shown =
    ownAdmin && !folder.greeted && settings['ENV'] !== 'production' && isLoopbackHost(host);
  const addresses = cluster.addresses();
  process.stdout.write(
    banner({
      publicUrl: addresses.gateway,
      localUrl: addresses.gateway,
      managementUrl: `of each process: ${join(folder.path, 'cluster.json')}`,
      ...(await firstTenant(addresses.postgres)),
      adminEmail: settings['ADMIN_EMAIL'] ?? generated.ADMIN_EMAIL,
      adminPassword: shown ? generated.ADMIN_PASSWORD : undefined,
      ownPassword: ownAdmin,
      mail: `${addresses.mailbox}/dev/mailbox`,
      dataFolder: folder.path,
      temporary: given.temp,
      more: serversAndProcesses(addresses),
    }),
  );
  folder.markGreeted();
}

const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

/** The services' settings in our environment, or in a file that it names. */
function settingsIn(env: NodeJS.ProcessEnv): { [name: string]: string | undefined } {
  const values = SETTING_FORMS.map(({ name, secret }): [string, string | undefined] => {
    const file = secret ? env[`${name}_FILE`] : undefined;
    return [name, env[name] || (file ? readFileSync(file, 'utf8').trim() : undefined)];
  });
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/**
 * Takes settings that the environment lacks from the folder, and the folder's administrator only if the environment
 * names none.
 */
function environmentOf(
  { JWT_SECRET, ENCRYPTION_KEY, ADMIN_EMAIL, ADMIN_PASSWORD }: DataFolder['generated'],
  settings: { readonly [name: string]: string | undefined },
): { readonly [name: string]: string } {
  const own = settings['ADMIN_EMAIL'] === undefined ? { ADMIN_EMAIL, ADMIN_PASSWORD } : {};
  return { JWT_SECRET, ENCRYPTION_KEY, ...own, ...(settings as { [name: string]: string }) };
}

/** Restarts a process that ends by itself and reports it, as an orchestrator does. */
async function keepUp(cluster: Cluster, each: ServiceProcess): Promise<void> {
  for (;;) {
    const how = await each.ended();
    if (stoppingSince !== undefined) return;
    process.stderr.write(`${each.name} ended (${how})${lastOf(each)}\nIt is started again.\n`);
    await new Promise((resolve) => setTimeout(resolve, RESTART_PAUSE_MS));
    if (stoppingSince !== undefined) return;
    await each.start().then(
      () => cluster.writeAddresses(),
      (error: Error) => process.stderr.write(`${error.message}\n`),
    );
  }
}

async function firstTenant(url: string) {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ tenant_id: string; publishable_key: string }>(
    DEFAULT_APPLICATION,
  );
  await client.end();
  const none = '(none)';
  return { tenantId: rows[0]?.tenant_id ?? none, publishableKey: rows[0]?.publishable_key ?? none };
}

const isFree = (port: number, host: string): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve(true)));
  });

async function stop(code: number): Promise<void> {
  const nowMs = performance.now();
  if (stoppingSince !== undefined) {
    if (nowMs - stoppingSince > SAME_SIGNAL_MS) process.exit(EXIT_FAILED);
    return;
  }
  stoppingSince = nowMs;
  process.stderr.write('Stopping …\n');
  const failures = await stops.all();
  for (const failure of failures) process.stderr.write(`${failure}\n`);
  process.exit(failures.length > 0 ? EXIT_FAILED : code);
}

const trace = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);

function fail(message: string, code: number): never {
  process.stderr.write(`${message}\n`);
  process.exit(code);
}

const options = readOptions(process.argv.slice(2));
if ('wrong' in options) fail(`${options.wrong}\n\n${USAGE}`, EXIT_USAGE);
else if (options.help) process.stdout.write(USAGE);
else await run(options);

/** Shows hosts and ports only, because a server's URL may contain its password. */
function serversAndProcesses(addresses: ClusterAddresses): readonly (readonly [string, string])[] {
  const hostOf = (url: string): string => new URL(url).host;
  return [
    ['PostgreSQL', hostOf(addresses.postgres)],
    ['Redis', hostOf(addresses.redis)],
    ['Kafka', addresses.kafka ?? 'none: topics are tables of PostgreSQL'],
    ...Object.entries(addresses.services).flatMap(([service, processes]) =>
      processes.map(
        ({ api, management, pid }) =>
          [service, `${api}  (process ${pid}, health and metrics at ${management})`] as const,
      ),
    ),
  ];
}
