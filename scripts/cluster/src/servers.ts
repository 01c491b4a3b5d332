/** The servers that the services need, on this machine: a database, a cache, a bus, and a folder for mail. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTopics, kafkaClient } from '@cardea/event-bus';
import { type LocalPostgres, startLocalPostgres } from '@cardea/local-postgres';
import { hostInUrl, type Logger } from '@cardea/runtime';
import { startMailbox } from '@cardea/standalone';
import { startKafka, startProcess, startRedis } from '@cardea/testing';
import { urlOf } from './hosts.ts';
import { lastWill } from './last-will.ts';
import type { Stops } from './stops.ts';

const DATABASE = 'cardea';
const DATABASE_EXISTS = '42P04';
/** The connections of one process: requests, loops, event store, locks, exports, and a few spare ones. */
const CONNECTIONS_PER_PROCESS = 24;
const CONNECTIONS_SPARE = 40;
const PASSWORD_BYTES = 18;
const STAND_IN = fileURLToPath(
  new URL('../../../packages/testing/src/fakes/fake-event-store-process.ts', import.meta.url),
);

export type ServersToStart = {
  readonly folder: string;
  readonly password: string;
  readonly temporary: boolean;
  /** The address of the mailbox. Other servers are at 127.0.0.1. */
  readonly host: string;
  readonly version: string;
  readonly log: Logger;
  readonly processes: number;
  /** Servers that run already. An empty string for Kafka means that none is used. */
  readonly given: {
    readonly databaseUrl?: string | undefined;
    readonly redisUrl?: string | undefined;
    readonly kafkaBrokers?: string | undefined;
    readonly eventstoreUrl?: string | undefined;
  };
  /** Uses the fake EventStoreDB, in memory. */
  readonly standIn: boolean;
  /** The lines of the ACL file of a Redis whose first user has this password. */
  readonly cacheUsers: (password: string) => readonly string[];
  readonly stops: Stops;
  readonly say: (line: string) => void;
};

export type Servers = {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  /** Whether the cache was started here, with users for the services. */
  readonly hasCacheUsers: boolean;
  /** Undefined if topics are tables. */
  readonly kafkaBrokers: string | undefined;
  /** The listener for users with logins. Undefined without Kafka, or if the broker is not ours. */
  readonly kafkaBrokersForUsers: string | undefined;
  /** Undefined if events are rows in PostgreSQL. */
  readonly eventstoreUrl: string | undefined;
  readonly smtpUrl: string;
  readonly mailbox: string;
  /** The process ids of the servers that were started here. */
  readonly pids: ServerPids;
};

export type ServerPids = { readonly [server in 'postgres' | 'redis' | 'kafka']?: number };

/** Starts all at the same time; {@link Stops} stops them, the database last. */
export async function startServers(of: ServersToStart): Promise<Servers> {
  const { given, stops, say } = of;
  // PostgreSQL is added to the stops first, so that it stops last.
  const pids: Pids = {};
  const databaseUrl = given.databaseUrl ?? (await postgres(of, pids));
  const [redisUrl, ownKafka, eventstoreUrl, mailbox] = await Promise.all([
    given.redisUrl ?? redis(of, pids),
    given.kafkaBrokers === undefined ? kafka(of, pids) : undefined,
    given.eventstoreUrl ?? (of.standIn ? eventStore(of) : undefined),
    startMailbox({ smtpPort: 0, port: 0, host: of.host, version: of.version, log: of.log }),
  ]);
  stops.add('the mailbox', () => mailbox.stop());
  const brokers = ownKafka?.brokers.join(',') ?? (given.kafkaBrokers || undefined);
  if (brokers !== undefined) {
    say('Creating topics …');
    const client = kafkaClient({ brokers: brokers.split(','), log: of.log });
    await createTopics(client, { replication: 1 });
  }
  return {
    databaseUrl,
    redisUrl,
    hasCacheUsers: given.redisUrl === undefined,
    kafkaBrokers: brokers,
    kafkaBrokersForUsers: ownKafka?.brokersForUsers.join(','),
    eventstoreUrl,
    smtpUrl: `smtp://${hostInUrl(of.host)}:${mailbox.smtpPort}`,
    mailbox: urlOf(of.host, mailbox.port),
    pids,
  };
}

/** Stops the server however this process ends. It is cancelled once the server was stopped in order. */
function endWithUs(stops: Stops, pid: number): void {
  stops.add('its last will', lastWill(pid));
}

type Pids = { -readonly [server in keyof ServerPids]: number };

async function postgres(of: ServersToStart, pids: Pids): Promise<string> {
  const { folder, password, temporary, processes, stops, say } = of;
  say('Starting PostgreSQL …');
  const connections = CONNECTIONS_SPARE + processes * CONNECTIONS_PER_PROCESS;
  const server: LocalPostgres = await startLocalPostgres({
    dataFolder: join(folder, 'postgres'),
    password,
    temporary,
    settings: { max_connections: String(connections) },
  });
  pids.postgres = server.pid;
  endWithUs(stops, server.pid);
  stops.add('PostgreSQL', () => server.stop({ remove: temporary }));
  await server.createDatabase(DATABASE).catch((error: { code?: string }) => {
    if (error.code !== DATABASE_EXISTS) throw error;
  });
  return server.connectionString(DATABASE);
}

async function redis(of: ServersToStart, pids: Pids): Promise<string> {
  const { cacheUsers, stops, say } = of;
  say('Starting Redis …');
  const password = randomBytes(PASSWORD_BYTES).toString('base64url');
  const server = await startRedis({ password, users: cacheUsers(password) });
  pids.redis = server.pid;
  stops.add('Redis', () => server.stop());
  return server.url;
}

async function kafka({ folder, stops, say }: ServersToStart, pids: Pids) {
  say('Starting Kafka …');
  const server = await startKafka({ dataDir: join(folder, 'kafka') });
  pids.kafka = server.pid;
  endWithUs(stops, server.pid);
  stops.add('Kafka', () => server.stop());
  return server;
}

async function eventStore({ stops, say }: ServersToStart): Promise<string> {
  say('Starting the stand-in of EventStoreDB …');
  const standIn = await startProcess({
    name: 'eventstore',
    script: STAND_IN,
    detached: true,
    ready: /"url":"([^"]+)"/,
  });
  stops.add('the stand-in of EventStoreDB', () => standIn.end('SIGTERM'));
  return standIn.ready?.[1] ?? '';
}
