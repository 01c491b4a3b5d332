/**
 * Starts a real Apache Kafka: one node that is broker and controller, on loopback, from the jars that
 * `scripts/kafka/fetch.mjs` downloads. Tests and the cluster on one machine start theirs the same way.
 */
import { spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { kafkaAnswers, kafkaClient } from '@cardea/event-bus';
import { silentLogger } from '../silent-logger.ts';
import { freePorts } from './free-ports.ts';

export type KafkaOptions = {
  /** The folder of the topics, which persist between starts. */
  readonly dataDir: string;
  /** The port; a free one by default. */
  readonly port?: number;
  /** The port of a fault proxy. Clients that connect through `proxiedPort` are directed to it. */
  readonly proxyPort?: number;
  /** Whether the broker continues after this process ends. Another process then stops it by its pid. */
  readonly outlivesUs?: boolean;
};

export type KafkaServer = {
  /** `host:port`. The listener has no authentication, so clients that connect there may do everything. */
  readonly brokers: readonly string[];
  /** The same broker for users with passwords (SCRAM-SHA-512), each with the rights that it was given. */
  readonly brokersForUsers: readonly string[];
  readonly port: number;
  /** The listener that a fault proxy forwards to. */
  readonly proxiedPort: number;
  readonly pid: number;
  /** Sends SIGKILL. Resolves when it has ended. */
  kill(): Promise<void>;
  /** Starts the broker again on its ports and data. Resolves when it serves. */
  restart(): Promise<void>;
  /** Any signal, e.g. SIGSTOP and SIGCONT. */
  signal(name: NodeJS.Signals): void;
  /** Ends the server gracefully. Resolves when it has ended. */
  stop(): Promise<void>;
};

/** There are no jars or no Java, or the broker does not start. */
export class KafkaNotStarted extends Error {
  override readonly name = 'KafkaNotStarted';
}

const HOST = '127.0.0.1';
const VERSION = '4.1.2';
const CLUSTER_ID = 'Q2FyZGVhS2Fma2FUZXN0MQ';
/** A Java VM starts in seconds on an idle machine, and in a minute on a busy one. */
const READY_MS_MAX = 170_000;
const STOP_MS_MAX = 15_000;
const LOOK_EVERY_MS = 50;
const JAVA_MIN = 17;
const JVM = ['-Xms256m', '-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
const LOG_CHARACTERS = 2000;

export async function startKafka(options: KafkaOptions): Promise<KafkaServer> {
  const missing = whyNoKafka();
  if (missing !== undefined) throw new KafkaNotStarted(missing);
  const { dataDir } = options;
  mkdirSync(dataDir, { recursive: true });
  const [free = 0, proxiedPort = 0, controller = 0, usersPort = 0] = await freePorts(4);
  const port = options.port ?? free;
  const proxyPort = options.proxyPort ?? proxiedPort;
  const properties = join(dataDir, 'server.properties');
  const text = propertiesOf({
    dataDir,
    port,
    proxiedPort,
    proxyPort,
    controller,
    usersPort,
  });
  writeFileSync(properties, text);
  if (!existsSync(join(dataDir, 'data', 'meta.properties'))) prepareData(properties, dataDir);

  let running = await startBroker(properties, dataDir, options.outlivesUs === true);
  await untilItServes(port, running, dataDir);
  return {
    brokers: [`${HOST}:${port}`],
    brokersForUsers: [`${HOST}:${usersPort}`],
    port,
    proxiedPort,
    get pid() {
      return running.pid;
    },
    signal: (name) => running.signal(name),
    kill: () => running.end('SIGKILL'),
    stop: () => running.end('SIGTERM'),
    restart: async () => {
      await running.end('SIGTERM');
      running = await startBroker(properties, dataDir, options.outlivesUs === true);
      await untilItServes(port, running, dataDir);
    },
  };
}

/** Returns what is missing on this machine and how to install it. Undefined when nothing is missing. */
export function whyNoKafka(): string | undefined {
  const { status, stderr } = spawnSync('java', ['-version'], { encoding: 'utf8' });
  const version = Number(/version "(\d+)/.exec(stderr ?? '')?.[1]);
  if (status !== 0 || !(version >= JAVA_MIN)) {
    return `there is no Java ${JAVA_MIN} on the PATH (Debian: apt-get install openjdk-17-jre-headless)`;
  }
  if (existsSync(libFolder())) return undefined;
  return 'there are no jars of Kafka; `node scripts/kafka/fetch.mjs` fetches them with Maven';
}

const libFolder = (): string =>
  process.env['CARDEA_KAFKA_LIB'] ||
  fileURLToPath(new URL(`../../../../.cache/kafka/${VERSION}/lib`, import.meta.url));

const classPath = (): string => join(libFolder(), '*');

type Ports = {
  readonly dataDir: string;
  readonly port: number;
  readonly proxiedPort: number;
  readonly proxyPort: number;
  readonly controller: number;
  readonly usersPort: number;
};

const SCRAM = 'org.apache.kafka.common.security.scram.ScramLoginModule required;';

/** Without the last two lines a killed broker stays fenced for nine seconds after its restart. */
const propertiesOf = (of: Ports): string => {
  const { dataDir, port, proxiedPort, proxyPort, controller, usersPort } = of;
  const plain = `PLAIN://${HOST}:${port}`;
  const users = `USERS://${HOST}:${usersPort}`;
  return [
    'process.roles=broker,controller',
    'node.id=1',
    `controller.quorum.voters=1@${HOST}:${controller}`,
    `listeners=${plain},${users},PROXIED://${HOST}:${proxiedPort},CONTROLLER://${HOST}:${controller}`,
    `advertised.listeners=${plain},${users},PROXIED://${HOST}:${proxyPort}`,
    'listener.security.protocol.map=PLAIN:PLAINTEXT,USERS:SASL_PLAINTEXT,PROXIED:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'listener.name.users.sasl.enabled.mechanisms=SCRAM-SHA-512',
    `listener.name.users.scram-sha-512.sasl.jaas.config=${SCRAM}`,
    'authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    // The users of the listeners without passwords.
    'super.users=User:ANONYMOUS',
    'inter.broker.listener.name=PLAIN',
    'controller.listener.names=CONTROLLER',
    `log.dirs=${join(dataDir, 'data')}`,
    'auto.create.topics.enable=false',
    'offsets.topic.replication.factor=1',
    'offsets.topic.num.partitions=1',
    'transaction.state.log.replication.factor=1',
    'transaction.state.log.min.isr=1',
    'transaction.state.log.num.partitions=1',
    'share.coordinator.state.topic.replication.factor=1',
    'share.coordinator.state.topic.min.isr=1',
    'group.initial.rebalance.delay.ms=0',
    'broker.session.timeout.ms=3000',
    'broker.heartbeat.interval.ms=500',
    '',
  ].join('\n');
};

/**
 * Formatting takes a Java VM of its own. What it writes names no port and no folder, so it is kept beside our jars for
 * the next broker.
 */
function prepareData(properties: string, dataDir: string): void {
  const [data, kept] = [join(dataDir, 'data'), `${libFolder()}-formatted-${CLUSTER_ID}`];
  if (existsSync(kept)) {
    cpSync(kept, data, { recursive: true });
    return;
  }
  format(properties);
  if (process.env['CARDEA_KAFKA_LIB']) return; // Not our folder.
  const copy = `${kept}-${process.pid}`;
  cpSync(data, copy, { recursive: true });
  try {
    renameSync(copy, kept);
  } catch {
    rmSync(copy, { recursive: true, force: true }); // Another process was first.
  }
}

function format(properties: string): void {
  const args = [...JVM, '-cp', classPath(), 'kafka.tools.StorageTool', 'format'];
  const { status, stderr } = spawnSync('java', [...args, '-t', CLUSTER_ID, '-c', properties], {
    encoding: 'utf8',
  });
  if (status !== 0) {
    throw new KafkaNotStarted(`its folder cannot be formatted: ${stderr.slice(-LOG_CHARACTERS)}`);
  }
}

type Running = {
  readonly pid: number;
  isOver(): boolean;
  signal(name: NodeJS.Signals): void;
  end(name: NodeJS.Signals): Promise<void>;
};

async function startBroker(
  properties: string,
  dataDir: string,
  outlivesUs: boolean,
): Promise<Running> {
  const log = openSync(join(dataDir, 'kafka.log'), 'a');
  const child = spawn('java', [...JVM, '-cp', classPath(), 'kafka.Kafka', properties], {
    cwd: dataDir,
    env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' },
    stdio: ['ignore', log, log],
    // A Ctrl-C must reach only us, who stop the broker when nobody needs it any more.
    detached: true,
  });
  closeSync(log);
  const kill = (): void => {
    child.kill('SIGKILL');
  };
  if (outlivesUs) child.unref();
  else process.once('exit', kill);
  let over = false;
  const ended = new Promise<void>((resolve) => {
    const end = (): void => {
      over = true;
      process.off('exit', kill);
      resolve();
    };
    child.once('close', end);
    child.once('error', end);
  });
  return {
    pid: child.pid ?? 0,
    isOver: () => over,
    signal: (name) => {
      child.kill(name);
    },
    end: async (name) => {
      if (over) return;
      const late = setTimeout(kill, STOP_MS_MAX);
      child.kill(name);
      // A process stopped by SIGSTOP handles no other signal.
      child.kill('SIGCONT');
      await ended;
      clearTimeout(late);
    },
  };
}

async function untilItServes(port: number, running: Running, dataDir: string): Promise<void> {
  const client = kafkaClient({ brokers: [`${HOST}:${port}`], log: silentLogger });
  const deadline = performance.now() + READY_MS_MAX;
  while (!(await kafkaAnswers(client))) {
    if (!running.isOver() && performance.now() < deadline) {
      await pause(LOOK_EVERY_MS);
      continue;
    }
    await running.end('SIGKILL');
    const log = readFileSync(join(dataDir, 'kafka.log'), 'utf8').trim();
    throw new KafkaNotStarted(`the broker does not serve: ${log.slice(-LOG_CHARACTERS)}`);
  }
}
