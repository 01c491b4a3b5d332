/** The checks of `doctor`. */
import { statfsSync } from 'node:fs';
import type { ServiceName } from '@cardea/contracts';
import { serviceSecrets, wrapKeys } from '@cardea/crypto';
import { checkTopics, type LapsedPartition } from '@cardea/event-bus';
import { pendingMigrations } from '@cardea/read-models';
import { CacheRefusesWrites } from '@cardea/runtime';
import { countedKeys, migrationSetsOf } from '@cardea/service';
import { services } from '../standalone.ts';
import { type DoctorCheck, type Finding, failed, ok, warning } from './check.ts';
import { type Deployment, wrappedIn } from './deployment.ts';
import { kafkaOf } from './kafka.ts';
import { lagOf, parkedBy, relayLag } from './lag.ts';
import { readableKeys } from './readable-keys.ts';
import { clientAddresses, mail, plaintext } from './settings-checks.ts';
import { approvers, reveals } from './vault-checks.ts';

const CLOCK_SECONDS_MAX = 5;
const LAG_SECONDS_MAX = 60;
const DISK_FREE_BYTES_MIN = 1024 ** 3;
const READY_MS_MAX = 3_000;

const database: DoctorCheck = async ({ deployment }) => {
  await deployment.shared().database.ping();
  return ok('answers');
};

const clock: DoctorCheck = async ({ deployment }) => {
  const { rows } = await deployment
    .shared()
    .database.system.query<{ now: Date }>('SELECT clock_timestamp() AS now');
  const apart = Math.abs((rows[0]?.now.getTime() ?? 0) - Date.now()) / 1000;
  return apart <= CLOCK_SECONDS_MAX
    ? ok(`within ${CLOCK_SECONDS_MAX} s of the database's`)
    : failed(`${Math.round(apart)} s from the database's`, 'synchronize both hosts by NTP');
};

const migrations: DoctorCheck = async ({ deployment: { settings, version } }) => {
  const { pending, changed, tooNew } = await pendingMigrations({
    connectionString: settings.MIGRATION_DATABASE_URL.reveal(),
    sets: migrationSetsOf(services),
    appVersion: version,
  });
  if (changed.length > 0)
    return failed(
      `${changed[0]} differs from the migration that was applied`,
      'run the release that applied it',
    );
  if (tooNew.length > 0)
    return failed('the database is newer than this version', 'run the newer release');
  return pending.length === 0
    ? ok('all applied')
    : failed(`${pending.length} migrations are not applied`, 'npm run cardea -- migrate');
};

/** Every key under which rows are wrapped must be configured. Rows under an older key should be re-encrypted. */
const encryptionKey: DoctorCheck = async ({ deployment }) => {
  const { settings } = deployment;
  const wrapped = wrappedIn(deployment);
  // The processes of a cluster have their own secrets, derived from the deployment's.
  const secretsOf = (service: ServiceName) => serviceSecrets(settings, service);
  const ids = readableKeys(
    await countedKeys(wrapped),
    await countedKeys({ ...wrapped, secretsOf }),
  );
  if (ids.unknown.length > 0)
    return failed(
      `rows are wrapped under ${ids.unknown.join(', ')}`,
      'set ENCRYPTION_KEY (or _PREVIOUS) to that key',
    );
  const current = ids.current.join(', ') || wrapKeys(settings, 'subject-wrap/v1').current.id;
  return ids.previous.length === 0
    ? ok(`${current} ${ids.current.length > 1 ? 'decrypt' : 'decrypts'} all stored rows`)
    : warning(
        `rows are still wrapped under ${ids.previous.join(', ')}`,
        'npm run cardea -- keys rewrap',
      );
};

const eventStore: DoctorCheck = async ({ deployment }) => {
  const [part] = deployment.parts();
  if (part === undefined) return [];
  const head = await part.needs.store.head(part.definition.name);
  const kind = deployment.settings.EVENTSTORE_URL === undefined ? 'PostgreSQL' : 'EventStoreDB';
  return ok(`${kind}, ${part.definition.name} at ${head}`);
};

const cache: DoctorCheck = async ({ deployment }) => {
  const shared = deployment.shared();
  if (shared.cache.mode === 'in_process') return ok('in the process');
  try {
    await shared.cache.ping();
  } catch (error) {
    if (!(error instanceof CacheRefusesWrites)) throw error;
    return failed(
      'Redis answers but refuses writes',
      'raise maxmemory, or let REDIS_URL name the primary; INFO of Redis says which',
    );
  }
  return ok('Redis takes writes');
};

const bus: DoctorCheck = async ({ deployment }) => {
  const { KAFKA_BROKERS } = deployment.settings;
  const parts = deployment.parts().filter(({ service }) => service.consumers.length > 0);
  const lags = await Promise.all(
    parts.flatMap(({ service, subscriber }) =>
      service.consumers.map(async ({ name, topics }) => {
        const lag = await subscriber.lag(name, topics);
        return [...lag.values()].reduce((sum, each) => sum + each, 0);
      }),
    ),
  );
  const records = lags.reduce((sum, each) => sum + each, 0);
  const kind = KAFKA_BROKERS === undefined ? 'PostgreSQL' : 'Kafka';
  return ok(`${kind}, ${records} records are not applied yet`);
};

const LAPSED_NAMED_MAX = 12;

/** Finds records that a topic lost before a consumer read them. The log still has their events. */
const lapsed: DoctorCheck = async ({ deployment }) => {
  const found: { readonly consumer: string; readonly at: LapsedPartition }[] = [];
  for (const { service, subscriber } of deployment.parts()) {
    for (const { name: consumer, topics } of service.consumers) {
      for (const at of await subscriber.lapsed(consumer, topics)) found.push({ consumer, at });
    }
  }
  return [...Map.groupBy(found, ({ at }) => at.topic)].flatMap(([topic, all]) => {
    const lowest = all.map(({ at }) => at.position).toSorted((a, b) => Number(a - b))[0];
    const named = all
      .slice(0, LAPSED_NAMED_MAX)
      .map(({ consumer, at }) => `${consumer} at partition ${at.partition}`);
    return failed(
      `${topic} lost records before they were read: ${named.join(', ')}, ${all.length} in all`,
      `npm run cardea -- relay replay --topic ${topic} --from ${lowest}`,
    );
  });
};

const topics: DoctorCheck = async ({ deployment }) => {
  const client = kafkaOf(deployment);
  if (client === undefined) return ok('the topics are tables, created by the migrations');
  const faults = await checkTopics(client);
  return faults.length === 0
    ? ok('all exist with the right partitions')
    : failed(faults.join(', '), 'npm run cardea -- topics create');
};

const projections: DoctorCheck = async ({ deployment }) => {
  const late: string[] = [];
  for (const part of deployment.parts()) {
    const { name } = part.definition;
    const head = await part.needs.store.head(name);
    const { rows } = await deployment
      .shared()
      .database.system.query<{ name: string; position: string }>(
        `SELECT name, position FROM ${name}.projection_checkpoints`,
      );
    for (const row of rows) {
      const { oldestSeconds } = await lagOf(part, BigInt(row.position), head);
      if (oldestSeconds > LAG_SECONDS_MAX) late.push(`${name}.${row.name} ${oldestSeconds} s`);
    }
  }
  return late.length === 0
    ? ok('level with their logs')
    : warning(late.join(', '), startIt(deployment));
};

const relays: DoctorCheck = async ({ deployment }) => {
  const all = await Promise.all(deployment.parts().map(relayLag));
  const late = all.filter(({ oldest_seconds: seconds }) => seconds > LAG_SECONDS_MAX);
  const names = late.map(({ log, oldest_seconds: seconds }) => `${log} ${seconds} s`);
  return late.length === 0
    ? ok('all events are published')
    : warning(names.join(', '), startIt(deployment));
};

const startIt = ({ isRunning }: Deployment): string =>
  isRunning === false ? 'npm start' : 'check that the process runs, and read its log';

const parked: DoctorCheck = async ({ deployment }) => {
  const { database } = deployment.shared();
  const all = await Promise.all(
    deployment.parts().map(({ definition }) => parkedBy(database, definition.name)),
  );
  const streams = all.flatMap((one) => [...one.values()]).reduce((sum, each) => sum + each, 0);
  return streams === 0
    ? ok('none')
    : failed(`${streams} streams are parked`, 'npm run cardea -- parked list');
};

/** The loops of each process, as that process reports them. */
const loops: DoctorCheck = async ({ deployment, management }) => {
  const { addresses, isRunning } = deployment;
  if (management === undefined && isRunning === false) {
    return warning('the product is stopped: no loop runs', 'npm start');
  }
  const urls = management ?? addresses?.management ?? [];
  if (urls.length === 0) {
    return warning('not checked', 'name the management ports with --management URL,…');
  }
  return (await Promise.all(urls.map(readiness))).flat();
};

async function readiness(url: string): Promise<readonly Finding[]> {
  const name = `loops at ${url}`;
  let answer: {
    readonly status: string;
    readonly checks: { [name: string]: { status: string; reason?: string } };
  };
  try {
    const response = await fetch(new URL('/readyz', url), {
      signal: AbortSignal.timeout(READY_MS_MAX),
    });
    answer = (await response.json()) as typeof answer;
  } catch {
    return [{ name, status: 'failed', detail: 'does not answer', fix: 'start it' }];
  }
  const reasons = Object.entries(answer.checks)
    .filter(([, check]) => check.status !== 'ok')
    .map(([what, { reason }]) => `${what}: ${reason}`);
  if (answer.status === 'ready') return [{ name, status: 'ok', detail: 'ready' }];
  const status = answer.status === 'degraded' ? 'warning' : 'failed';
  const detail = `${answer.status}: ${reasons.join('; ')}`;
  return [{ name, status, detail, fix: 'see docs/runbook.md' }];
}

const disk: DoctorCheck = async ({ deployment: { folder } }) => {
  if (folder === undefined) return [];
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const gib = `${(free / 1024 ** 3).toFixed(1)} GiB free`;
  return free >= DISK_FREE_BYTES_MIN
    ? ok(gib)
    : failed(gib, 'free some space, or move the data folder');
};

/** The checks in their order. Later checks need what earlier ones found to work. */
export const doctorChecks: { readonly [name: string]: DoctorCheck } = {
  settings: async () => ok('right'),
  plaintext,
  'client addresses': clientAddresses,
  database,
  clock,
  migrations,
  'encryption key': encryptionKey,
  'event store': eventStore,
  cache,
  bus,
  topics,
  'lost records': lapsed,
  projections,
  relays,
  'parked streams': parked,
  mail,
  'approval policies': approvers,
  'secret reveals': reveals,
  loops,
  disk,
};
