/**
 * One Kafka for one test run: the one that TEST_KAFKA_BROKERS names, otherwise a broker that the first test file that
 * needs it starts. Each test file has its own names of topics and groups.
 */
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, beforeEach, inject } from 'vitest';
import { untilTrue } from '../until-true.ts';
import { startKafka, whyNoKafka } from './kafka-server.ts';
import {
  type Missing,
  type Started,
  serverSetup,
  takeVariable,
  withoutServer,
} from './run-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Set by the global setup of the projects that use real servers. */
    kafka: KafkaOfRun;
  }
}

/** The information that test files need about the run's broker: its address, or the folder in which it is started. */
export type KafkaOfRun =
  | { readonly brokers: readonly string[]; readonly brokersForUsers?: readonly string[] }
  | { readonly folder: string }
  | Missing;

const GIVEN = 'TEST_KAFKA_BROKERS';
/** The variable of a broker that the runner of several projects shares between them and stops at the end. */
const HANDED_DOWN = 'KAFKA_OF_RUN';
const PREFIX = 'cardea-test-kafka-';
const START_MS_MAX = 240_000;

/** Throws when there is no Kafka and CARDEA_REQUIRE names it. */
export async function startKafkaOfRun(): Promise<Started<KafkaOfRun>> {
  const handedDown = takeVariable(HANDED_DOWN);
  const given = takeVariable(GIVEN);
  if (handedDown !== undefined) {
    return { info: JSON.parse(handedDown), stop: async () => undefined };
  }
  if (given !== undefined) {
    return { info: { brokers: given.split(',') }, stop: async () => undefined };
  }
  const missing = whyNoKafka();
  if (missing !== undefined) return withoutServer('kafka', `no Kafka: ${missing}`);
  sweepLeftBrokers();
  const folder = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  const remove = (): void => removeBroker(folder);
  // The run may end without its teardown: Ctrl-C, a crash, process.exit.
  process.once('exit', remove);
  return {
    info: { folder },
    stop: async () => {
      process.off('exit', remove);
      remove();
    },
  };
}

/** The environment that makes a child's {@link startKafkaOfRun} use this broker. */
export const handDownKafka = (info: KafkaOfRun) => ({ [HANDED_DOWN]: JSON.stringify(info) });

export const kafkaSetup = () => serverSetup('kafka', startKafkaOfRun);

export type TestKafka = {
  /** It is set when hooks and tests run, not at load. */
  readonly brokers: readonly string[];
  /** The listener with logins. Undefined with a broker that was given. */
  readonly brokersForUsers: readonly string[] | undefined;
  /** The prefix for names of topics and groups. */
  readonly prefix: string;
};

/** Call it once, at the top of a file or of a `describe`. Without a broker the tests beside it are skipped by name. */
export function testKafka(): TestKafka {
  const server = needKafka();
  let started: Brokers | undefined;
  beforeAll(async () => {
    if ('brokers' in server) started = server;
    if ('folder' in server) started = await brokersIn(server.folder);
  }, START_MS_MAX);
  return {
    get brokers() {
      if (started === undefined) throw new Error('The broker is there from beforeAll on.');
      return started.brokers;
    },
    get brokersForUsers() {
      return started?.brokersForUsers;
    },
    prefix: `t${randomBytes(4).toString('hex')}`,
  };
}

/** Returns what tests need to start and kill their own brokers. They are skipped by name if Kafka is unavailable. */
export function needKafka(): KafkaOfRun {
  const server = inject('kafka');
  beforeEach((context) => {
    if ('missing' in server) context.skip(server.missing);
  });
  return server;
}

type Brokers = {
  readonly brokers: readonly string[];
  readonly brokersForUsers?: readonly string[];
};
type Note = (Brokers & { readonly pid: number }) | { readonly why: string };

/** The process that creates the folder starts the broker. The others wait for its note. */
async function brokersIn(folder: string): Promise<Brokers> {
  const file = join(folder, 'broker.json');
  if (tryToMake(join(folder, 'starting'))) {
    try {
      const server = await startKafka({ dataDir: folder, outlivesUs: true });
      const { pid, brokers, brokersForUsers } = server;
      leave(file, { pid, brokers, brokersForUsers });
    } catch (error) {
      leave(file, { why: error instanceof Error ? error.message : String(error) });
    }
  }
  await untilTrue(() => existsSync(file), { deadlineMs: START_MS_MAX, what: 'the broker is up' });
  const note: Note = JSON.parse(readFileSync(file, 'utf8'));
  if ('why' in note) throw new Error(`No Kafka: ${note.why}`);
  return note;
}

function tryToMake(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

/** Written under another name and renamed, so that nobody reads an incomplete file. */
function leave(file: string, note: Note): void {
  writeFileSync(`${file}.new`, JSON.stringify(note));
  renameSync(`${file}.new`, file);
}

/** Brokers of runs that were killed before they could stop them. */
function sweepLeftBrokers(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = Number(name.slice(PREFIX.length).split('-')[0]);
    if (!name.startsWith(PREFIX) || !(pid > 0) || existsSync(`/proc/${pid}`)) continue;
    removeBroker(join(tmpdir(), name));
  }
}

function removeBroker(folder: string): void {
  try {
    const note: Note = JSON.parse(readFileSync(join(folder, 'broker.json'), 'utf8'));
    // The process id may belong to another program by now.
    const isOurs =
      'pid' in note && readFileSync(`/proc/${note.pid}/cmdline`, 'utf8').includes(folder);
    if (isOurs) process.kill(note.pid, 'SIGKILL');
  } catch {
    // The broker never started, or has ended.
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
