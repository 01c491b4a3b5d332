/**
 * Cardea as in production, on one machine and without containers: six services as separate processes, each with the
 * given number of replicas, with nginx, PostgreSQL, Redis and Kafka. Tests start it in the same way.
 */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SERVICE_NAMES, type ServiceName } from '@cardea/contracts';
import { logger, loopbackBeside, type RootLogger, secret } from '@cardea/runtime';
import { cacheUsersFile, makeLogins, migrateServices } from '@cardea/service';
import { services as definitions } from '@cardea/standalone';
import { freePorts } from '@cardea/testing';
import packageJson from '../package.json' with { type: 'json' };
import { LOOPBACK, urlOf } from './hosts.ts';
import { type ServerPids, type Servers, startServers } from './servers.ts';
import { serviceAddress } from './service-address.ts';
import { deploymentSettings, serviceEnvironment } from './service-environment.ts';
import { type ServiceProcess, serviceProcess } from './service-process.ts';
import { Stops } from './stops.ts';

const { version } = packageJson;
const PORTS_PER_PROCESS = 3;
/** Connections of one process for requests. A dozen processes share the machine. */
const POOL_SIZE = '10';
const STOP_MS_MAX = 30_000;
const OWNER_ONLY_FILE = 0o600;
/** Services that other services call. Each has one address for all its replicas. */
const ASKED: readonly ServiceName[] = ['identity', 'approval', 'authz'];

export type ClusterToStart = {
  /** The folder for logs, data and `cluster.json`. */
  readonly folder: string;
  readonly temporary: boolean;
  readonly replicas: number;
  /** The gateway's port; a free one by default. */
  readonly port?: number | undefined;
  /** The gateway's address; 127.0.0.1 by default. All services listen on the loopback address of its family. */
  readonly host?: string | undefined;
  /** The password of the superuser of our own PostgreSQL. */
  readonly postgresPassword: string;
  /** JWT_SECRET, ENCRYPTION_KEY, ADMIN_EMAIL, ADMIN_PASSWORD, and any further setting of the services. */
  readonly env: { readonly [name: string]: string };
  /** Servers to use instead of starting new ones. `kafkaBrokers: ''` runs without Kafka. */
  readonly given?: {
    readonly databaseUrl?: string | undefined;
    readonly redisUrl?: string | undefined;
    readonly kafkaBrokers?: string | undefined;
    readonly eventstoreUrl?: string | undefined;
  };
  /** Uses the fake EventStoreDB, which loses its events when it ends. */
  readonly standIn?: boolean;
  readonly say?: (line: string) => void;
  readonly startGateway: StartGateway;
};

/** Starts nginx with these upstream addresses, `host:port` of each replica. */
export type StartGateway = (of: {
  readonly upstreams: { readonly [name in ServiceName]: readonly string[] };
  readonly port: number;
  readonly hosts: readonly string[];
}) => Promise<{
  readonly url: string;
  readonly pid: number;
  /** `graceful` lets pending requests finish. */
  stop(graceful: boolean): Promise<void>;
}>;

type Address = {
  readonly api: string;
  readonly management: string;
  readonly internal: string;
  readonly pid: number;
};
/** The content of `cluster.json`. */
export type Addresses = {
  readonly gateway: string;
  readonly mailbox: string;
  readonly kafka: string | null;
  readonly redis: string;
  readonly postgres: string;
  readonly eventstore: string | null;
  readonly services: { readonly [name in ServiceName]: readonly Address[] };
};

export type Cluster = {
  readonly addresses: () => Addresses;
  readonly processes: readonly ServiceProcess[];
  of(service: ServiceName): readonly ServiceProcess[];
  /** The settings of the processes of a service, including secrets. */
  environmentOf(service: ServiceName): { readonly [name: string]: string };
  readonly gatewayPid: number;
  readonly serverPids: ServerPids;
  /** Writes `cluster.json` again, after a process was restarted. */
  writeAddresses(): void;
  /** Stops everything in the reverse order of the start, and returns what did not stop as it should. */
  stop(): Promise<readonly string[]>;
};

/**
 * Throws the error of the part that did not start; parts that were started before it are stopped again.
 * With `stops` the caller can stop it before all parts are started.
 */
export async function startCluster(of: ClusterToStart, stops = new Stops()): Promise<Cluster> {
  try {
    return await start(of, stops);
  } catch (error) {
    await stops.all();
    throw error;
  }
}

async function start(of: ClusterToStart, stops: Stops): Promise<Cluster> {
  const { folder, temporary, replicas, given = {}, say = () => undefined, host = LOOPBACK } = of;
  const own = loopbackBeside(host);
  const logs = join(folder, 'logs');
  mkdirSync(logs, { recursive: true });
  const log = logger({ service: 'cluster', version, level: 'warn' });
  const servers = await startServers({
    folder,
    temporary,
    host: own,
    version,
    log,
    given,
    stops,
    say,
    standIn: of.standIn === true,
    password: of.postgresPassword,
    cacheUsers: (password) => cacheUsersOf(of, password),
    processes: replicas * SERVICE_NAMES.length,
  });
  say('Migrating …');
  await bringForward(servers.databaseUrl, log);

  const [gatewayPort = 0, ...ports] = await freePorts(
    1 + ASKED.length + replicas * SERVICE_NAMES.length * PORTS_PER_PROCESS,
  );
  const port = of.port ?? gatewayPort;
  const shared = ports.splice(0, ASKED.length);
  const deployment = environmentOf(of, servers, { own, publicUrl: urlOf(host, port), shared });
  say('Making logins …');
  await makeLogins(deploymentSettings(deployment), log);
  const form = { shared: deployment, servers, ownSecrets: temporary };
  const environments = byService((service) => serviceEnvironment(service, form));
  const processes = SERVICE_NAMES.flatMap((service) =>
    Array.from({ length: replicas }, (_, index) => {
      const [api = 0, management = 0, internal = 0] = ports.splice(0, PORTS_PER_PROCESS);
      const replica = index + 1;
      const logFile = join(logs, `${service}-${replica}.log`);
      return serviceProcess({
        service,
        replica,
        ports: { api, management, internal },
        env: environments[service],
        logFile,
      });
    }),
  );
  const among = (service: ServiceName) => processes.filter((each) => each.service === service);
  for (const [index, service] of ASKED.entries()) {
    const replicaPorts = among(service).map((each) => each.ports.internal);
    const address = await serviceAddress(shared[index] ?? 0, { host: own, ports: replicaPorts });
    stops.add(`the address of ${service}`, () => address.close());
  }
  say(`Starting ${processes.length} services …`);
  stops.add('the services', () => endAll(processes));
  await Promise.all(processes.map((each) => each.start()));

  say('Starting nginx …');
  const upstreams = byService((name) => among(name).map(({ api }) => new URL(api).host));
  const gateway = await of.startGateway({ upstreams, port, hosts: [host] });
  stops.add('nginx', () => gateway.stop(true));

  const addresses = (): Addresses => ({
    gateway: gateway.url,
    mailbox: servers.mailbox,
    kafka: servers.kafkaBrokers ?? null,
    redis: servers.redisUrl,
    postgres: servers.databaseUrl,
    eventstore: withoutAccount(servers.eventstoreUrl),
    services: byService((name) =>
      among(name).map(({ api, management, internal, pid }) => ({ api, management, internal, pid })),
    ),
  });
  const writeAddresses = (): void => writeDown(folder, addresses());
  writeAddresses();
  return {
    addresses,
    processes,
    of: among,
    environmentOf: (service) => environments[service],
    gatewayPid: gateway.pid,
    serverPids: servers.pids,
    writeAddresses,
    stop: () => stops.all(),
  };
}

/** The address of the cache is not known yet, and is not needed here. */
function cacheUsersOf({ env }: ClusterToStart, password: string): readonly string[] {
  const [database, cache] = ['postgres://unused', `redis://:${password}@unused`];
  const settings = deploymentSettings({ ...env, DATABASE_URL: database, REDIS_URL: cache });
  return cacheUsersFile(settings) ?? [];
}

const byService = <T>(of: (service: ServiceName) => T): { readonly [name in ServiceName]: T } =>
  Object.fromEntries(SERVICE_NAMES.map((name) => [name, of(name)])) as {
    readonly [name in ServiceName]: T;
  };

const bringForward = async (databaseUrl: string, log: RootLogger): Promise<void> => {
  const url = secret(databaseUrl);
  const settings = { DATABASE_URL: url, MIGRATION_DATABASE_URL: url };
  await migrateServices({ settings, definitions, version, log });
};

function environmentOf(
  { env }: ClusterToStart,
  servers: Servers,
  of: {
    /** The address of each process. */
    readonly own: string;
    readonly publicUrl: string;
    readonly shared: readonly number[];
  },
): { readonly [name: string]: string } {
  const [identity, approval, authz] = of.shared.map((port) => urlOf(of.own, port));
  return {
    ENV: 'development',
    LOG_LEVEL: 'warn',
    DATABASE_POOL_SIZE: POOL_SIZE,
    TRUSTED_PROXIES: of.own,
    PUBLIC_URL: of.publicUrl,
    SHUTDOWN_DELAY: '0s',
    UV_THREADPOOL_SIZE: '6',
    ...env,
    HOST: of.own,
    DATABASE_URL: servers.databaseUrl,
    REDIS_URL: servers.redisUrl,
    ...(servers.kafkaBrokers === undefined ? {} : { KAFKA_BROKERS: servers.kafkaBrokers }),
    ...(servers.eventstoreUrl === undefined ? {} : { EVENTSTORE_URL: servers.eventstoreUrl }),
    SMTP_URL: servers.smtpUrl,
    IDENTITY_INTERNAL_URL: identity ?? '',
    APPROVAL_INTERNAL_URL: approval ?? '',
    AUTHZ_INTERNAL_URL: authz ?? '',
  };
}

/** Ends all at the same time, because each process drains by itself. */
async function endAll(processes: readonly ServiceProcess[]): Promise<void> {
  const ends = processes
    .filter((each) => each.alive)
    .map(async (each) => {
      const how = await each.end('SIGTERM', STOP_MS_MAX).catch(() => each.end('SIGKILL'));
      return how === 0 ? undefined : `${each.name} ended (${how})`;
    });
  const wrong = (await Promise.all(ends)).filter((each) => each !== undefined);
  if (wrong.length > 0) throw new Error(wrong.join(', '));
}

/** The URL without its credentials, which belong to another server and must not be written to a file. */
export const withoutAccount = (url: string | undefined): string | null =>
  url?.replace(/^([a-z+]+:\/\/)[^/?]*@/, '$1') ?? null;

/** The file contains the passwords of database and cache, so only its owner may read it. */
function writeDown(folder: string, addresses: Addresses): void {
  const file = join(folder, 'cluster.json');
  const text = `${JSON.stringify(addresses, null, 2)}\n`;
  writeFileSync(`${file}.new`, text, { mode: OWNER_ONLY_FILE });
  renameSync(`${file}.new`, file);
}
