/**
 * Starts the whole product for a measurement: standalone, or six processes behind nginx with Redis and Kafka. It also
 * measures the processor time of all these processes.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCluster } from '@cardea/cluster';
import { SERVICE_NAMES, topicOf } from '@cardea/contracts';
import { kafkaClient } from '@cardea/event-bus';
import { startLocalPostgres } from '@cardea/local-postgres';
import { logger } from '@cardea/runtime';
import { endsOfTables, type TopicEnds, temporaryInstance, untilLevel } from '@cardea/testing';
import { Client } from 'pg';
import type { BenchContext, Goal } from './harness.ts';
import { familyMs, processorMs } from './processor-time.ts';

/** With these settings no request exceeds a rate limit, and tokens outlive the run. */
const SETTINGS = { RATE_LIMIT_FACTOR: '1000000', JWT_EXPIRY: '24h' };

export type WholeSystem = {
  readonly base: string;
  /** The processes of the product, without PostgreSQL and the gateway. */
  readonly serverPids: readonly number[];
  /** The processor time of all server processes and PostgreSQL, in milliseconds, without the cost of {@link level}. */
  processorMs(): number;
  /** The processor time of servers whose cost is printed separately. */
  readonly apart: { readonly [server: string]: () => number };
  /** Resolves when every position has reached its end, and nothing waits to be sent. */
  level(): Promise<void>;
};

/** Goals apply to standalone only. */
export const goalIn = ({ cluster }: BenchContext, goal: Goal): { readonly goal?: Goal } =>
  cluster ? {} : { goal };

export const wholeSystem = ({ shared }: BenchContext): Promise<WholeSystem> =>
  shared('the whole system', startWhole);

async function startWhole(context: BenchContext): Promise<WholeSystem> {
  const started = context.cluster ? await cluster(context) : await standalone(context);
  const client = new Client({ connectionString: started.databaseUrl });
  await client.connect();
  context.onEnd(() => client.end());
  const ends = started.ends ?? endsOfTables(client);
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const observer = rows[0]?.pid ?? 0;
  return {
    base: started.base,
    serverPids: started.serverPids,
    apart: started.apart,
    processorMs: () =>
      [...started.serverPids, ...started.otherPids].reduce(
        (sum, pid) => sum + familyMs(pid),
        -processorMs(observer),
      ),
    level: () => untilLevel(client, ends),
  };
}

type Started = {
  readonly base: string;
  readonly databaseUrl: string;
  readonly serverPids: readonly number[];
  readonly otherPids: readonly number[];
  readonly apart: WholeSystem['apart'];
  /** Undefined if topics are tables. */
  readonly ends?: TopicEnds;
};

async function standalone(context: BenchContext): Promise<Started> {
  const postgres = await startLocalPostgres({
    dataFolder: join(temporaryFolder(context), 'postgres'),
    password: randomBytes(18).toString('base64url'),
    temporary: true,
  });
  // The server is stopped even if the run is interrupted.
  const stop = (): void => postgres.stop({ remove: true });
  process.once('exit', stop);
  context.onEnd(() => {
    process.off('exit', stop);
    stop();
  });
  const databaseUrl = postgres.connectionString();
  const settings = { ...SETTINGS, DATABASE_URL: databaseUrl };
  const instance = await temporaryInstance(() => undefined, settings);
  context.onEnd(() => instance.stop());
  return {
    base: instance.base,
    databaseUrl,
    serverPids: [instance.pid],
    otherPids: [postgres.pid],
    apart: {},
  };
}

async function cluster(context: BenchContext): Promise<Started> {
  const folder = temporaryFolder(context);
  const running = await startCluster({
    folder,
    temporary: true,
    replicas: 1,
    postgresPassword: randomBytes(18).toString('base64url'),
    env: {
      ...SETTINGS,
      JWT_SECRET: randomBytes(32).toString('hex'),
      ENCRYPTION_KEY: randomBytes(32).toString('hex'),
      CARDEA_DATA: folder,
    },
    startGateway: async ({ upstreams, port }) => {
      const gateway = await context.startGateway(upstreams, port);
      if (gateway === undefined) throw new Error('there is no nginx here');
      return gateway;
    },
  });
  context.onEnd(async () => void (await running.stop()));
  const { gateway, postgres, kafka } = running.addresses();
  const { postgres: postmaster = 0, ...others } = running.serverPids;
  return {
    base: gateway,
    databaseUrl: postgres,
    serverPids: running.processes.map(({ pid }) => pid),
    otherPids: [postmaster, running.gatewayPid],
    apart: Object.fromEntries(
      Object.entries(others).map(([name, pid]) => [name, () => familyMs(pid)]),
    ),
    ...(kafka === null ? {} : { ends: await endsOfKafka(context, kafka) }),
  };
}

function temporaryFolder({ onEnd }: BenchContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'cardea-bench-'));
  chmodSync(folder, 0o711); // If we are root, the database's own user needs access.
  onEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function endsOfKafka({ onEnd }: BenchContext, brokers: string): Promise<TopicEnds> {
  const log = logger({ service: 'bench', version: '0.1.0', level: 'error' });
  const admin = kafkaClient({ brokers: brokers.split(','), log })
    .connect()
    .admin();
  await admin.connect();
  onEnd(() => admin.disconnect());
  return async () => {
    const all = SERVICE_NAMES.map(topicOf).map(async (topic) =>
      (await admin.fetchTopicOffsets(topic)).map(({ partition, high }) => ({
        topic,
        partition,
        next: high,
      })),
    );
    return (await Promise.all(all)).flat();
  };
}
