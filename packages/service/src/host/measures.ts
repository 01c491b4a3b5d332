/**
 * Measures, at each scrape, metrics that are not counted continuously: lags, parked streams, available dependencies. A
 * scrape never waits long, and every series that can exist is present.
 */
import { topicOf } from '@cardea/contracts';
import type { RecordedEvent } from '@cardea/event-store';
import { measureProcess, metrics } from '@cardea/runtime';
import type { Infrastructure } from './infrastructure.ts';
import type { Part } from './parts.ts';

const ENOUGH_MS = 2_000;
const DEPENDENCY_WAIT_MS = 1_000;
/** An alarm fires long before this number. Counting further would slow down a service that lags already. */
const EVENTS_COUNTED_MAX = 500;

export function measuring(parts: readonly Part[], shared: Infrastructure): () => Promise<void> {
  measureProcess(shared);
  for (const part of parts) startAtZero(part);
  let running: Promise<void> | undefined;
  return async () => {
    running ??= measureAll(parts, shared).finally(() => {
      running = undefined;
    });
    await within(ENOUGH_MS, running, shared);
  };
}

/** An alarm on an increase would miss the first event of a series that did not exist before. */
function startAtZero({ service }: Part): void {
  for (const consumer of service.consumers) {
    metrics.deadLetters.inc({ consumer: consumer.name }, 0);
    metrics.consumerDuplicates.inc({ consumer: consumer.name }, 0);
  }
  for (const { contract } of service.endpoints) {
    for (const [code, status] of Object.entries(contract.refusals)) {
      if (status === 429) metrics.rateLimited.inc({ rule: `${contract.name}/${code}` }, 0);
    }
  }
}

async function measureAll(parts: readonly Part[], shared: Infrastructure): Promise<void> {
  for (const { pool, waiting } of shared.database.pools())
    metrics.poolWaiting.set({ pool }, waiting);
  const failed = (error: unknown): void => {
    const name = error instanceof Error ? error.name : 'unknown';
    shared.log.debug({ error: name }, 'something could not be measured');
  };
  await Promise.all([
    measureDependencies(parts, shared),
    ...parts.flatMap((part) =>
      [measureLog(part, shared), measureParked(part, shared), measureConsumers(part)].map((one) =>
        one.catch(failed),
      ),
    ),
    ...parts.map(({ service }) => (service.measure?.() ?? Promise.resolve()).catch(failed)),
  ]);
}

async function measureDependencies(parts: readonly Part[], shared: Infrastructure): Promise<void> {
  const { settings, database, cache } = shared;
  const [part] = parts;
  const calls: { readonly [name: string]: (() => Promise<unknown>) | undefined } = {
    postgres: () => database.ping(),
    redis: cache.mode === 'redis' ? () => cache.ping() : undefined,
    eventstore:
      settings.EVENTSTORE_URL === undefined || part === undefined
        ? undefined
        : () => part.needs.store.head(part.definition.name),
    kafka:
      settings.KAFKA_BROKERS === undefined || part === undefined
        ? undefined
        : () => part.subscriber.lag(part.definition.name, [topicOf(part.definition.name)]),
  };
  const measured = Object.entries(calls).map(async ([name, call]) => {
    if (call === undefined) return;
    const answered = await within(DEPENDENCY_WAIT_MS, call().then(yes, no), shared);
    metrics.dependencyUp.set({ name }, answered === true ? 1 : 0);
  });
  await Promise.all(measured);
}

const yes = (): boolean => true;
const no = (): boolean => false;

/** Head, projections and relay of one log. */
async function measureLog({ definition, needs, service }: Part, shared: Infrastructure) {
  const { name } = definition;
  const head = await needs.store.head(name);
  metrics.logHead.set({ log: name }, Number(head));
  const [projected, relayed] = await Promise.all([
    shared.database.system.query<{ name: string; position: string }>(
      `SELECT name, position FROM ${name}.projection_checkpoints`,
    ),
    shared.database.system.query<{ position: string }>(
      'SELECT position FROM bus.relay_checkpoints WHERE log = $1',
      [name],
    ),
  ]);
  // Most projections are at the same position. If the log's last event belongs to another service, all seem to lag.
  const pages = new Map<bigint, Promise<readonly RecordedEvent[]>>();
  const behind = (position: bigint): Promise<readonly RecordedEvent[]> => {
    const page =
      pages.get(position) ??
      (position >= head
        ? Promise.resolve([])
        : needs.store.readLog(name, position, EVENTS_COUNTED_MAX));
    pages.set(position, page);
    return page;
  };
  const ageOf = ([first]: readonly RecordedEvent[]): number =>
    first === undefined
      ? 0
      : Math.max(0, shared.clock.now().getTime() - first.time.getTime()) / 1000;

  for (const projection of service.projections) {
    const row = projected.rows.find((each) => each.name === projection.name);
    const events = await behind(BigInt(row?.position ?? 0));
    const labels = { projection: `${name}.${projection.name}` };
    metrics.projectionLagEvents.set(labels, events.length);
    metrics.projectionLagSeconds.set(labels, ageOf(events));
  }
  const unsent = await behind(BigInt(relayed.rows[0]?.position ?? 0));
  metrics.relayLagEvents.set({ topic: topicOf(name) }, unsent.length);
  metrics.relayOldest.set({ topic: topicOf(name) }, ageOf(unsent));
}

/** Covers everything that can park here, so that a series falls to zero when its stream continues. */
async function measureParked({ definition, service }: Part, { database }: Infrastructure) {
  const { name } = definition;
  const { rows } = await database.system.query<{ owner: string; streams: number }>(
    `SELECT owner, count(DISTINCT stream_id)::int AS streams
     FROM ${name}.parked_events GROUP BY owner`,
  );
  const parked = new Map(rows.map(({ owner, streams }) => [owner, streams]));
  const owners: readonly (readonly [owner: string, consumer: string])[] = [
    [`relay:${name}`, `relay:${name}`],
    ...service.projections.map((one) => named('projection', name, one.name)),
    ...service.policies.map((one) => named('policy', name, one.name)),
    ...service.consumers.map((one) => [`consumer:${one.name}`, `consumer:${one.name}`] as const),
  ];
  for (const [owner, consumer] of owners) {
    metrics.parkedStreams.set({ consumer }, parked.get(owner) ?? 0);
  }
}

const named = (kind: string, schema: string, name: string) =>
  [`${kind}:${name}`, `${kind}:${schema}.${name}`] as const;

async function measureConsumers(part: Part): Promise<void> {
  for (const { consumer, topic, records } of await lagsOf(part)) {
    metrics.consumerLagEvents.set({ consumer, topic }, records);
  }
}

async function lagsOf({ service, subscriber }: Part) {
  const lags = service.consumers.map(async ({ name: consumer, topics }) => {
    const lag = await subscriber.lag(consumer, topics);
    return [...lag].map(([topic, records]) => ({ consumer, topic, records }));
  });
  return (await Promise.all(lags)).flat();
}

/** Returns undefined when it took longer. A later result is still recorded. */
async function within<T>(
  ms: number,
  work: Promise<T>,
  { clock }: Pick<Infrastructure, 'clock'>,
): Promise<T | undefined> {
  const done = new AbortController();
  const late = clock.sleep(ms, done.signal).then(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    done.abort();
  }
}
