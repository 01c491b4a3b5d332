/**
 * The infrastructure that the services of one process share: database, logs, topics, cache and clock. No
 * other code knows which adapter a port has.
 */
import type { ServiceName } from '@cardea/contracts';
import { type Derive, deriveFrom } from '@cardea/crypto';
import type { Publisher, Subscriber } from '@cardea/event-bus';
import {
  type EventStore,
  type EventStoreDbStores,
  eventStoreDbStores,
  type PostgresEventStores,
  postgresEventStores,
} from '@cardea/event-store';
import { type ProcessSession, processSession } from '@cardea/postgres';
import { openDatabase, type PostgresDatabase, rolesOf } from '@cardea/read-models';
import {
  type Cache,
  type CacheAlarm,
  type Clock,
  type Ids,
  inProcessCache,
  type Loops,
  loops,
  metrics,
  type Random,
  type RootLogger,
  redisCache,
  type Settings,
  systemClock,
  systemRandom,
  uuidV7Ids,
} from '@cardea/runtime';
import { cacheAlarm } from './cache-alarm.ts';
import { stopAll } from './running.ts';
import { topicsOf } from './topics.ts';

export type Infrastructure = {
  readonly settings: Settings;
  readonly version: string;
  /** Undefined if several services run in this process. */
  readonly service?: ServiceName;
  readonly log: RootLogger;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  readonly loops: Loops;
  readonly derive: Derive;
  readonly cache: Cache;
  readonly database: PostgresDatabase;
  readonly locks: ProcessSession;
  readonly storeFor: (log: ServiceName) => EventStore;
  readonly publisher: Publisher;
  /** The consumers of one service store their positions in its schema. */
  readonly subscriberFor: (service: ServiceName) => Subscriber;
  close(): Promise<void>;
};

/** A clock or ids that tests pass in. */
export type Given = {
  readonly settings: Settings;
  readonly version: string;
  readonly log: RootLogger;
  /** The only service that runs here. The process has that service's login at the database. */
  readonly service?: ServiceName;
  readonly clock?: Clock;
  readonly ids?: Ids;
  readonly random?: Random;
  readonly cache?: Cache;
};

export function infrastructure(given: Given): Infrastructure {
  const { settings, log } = given;
  const clock = given.clock ?? systemClock;
  const random = given.random ?? systemRandom;
  const loopWatches = loops(clock);
  const connectionString = settings.DATABASE_URL.reveal();
  const database = openDatabase({
    connectionString,
    log,
    clock,
    service: given.service,
    poolSize: settings.DATABASE_POOL_SIZE,
  });
  const locks = processSession({ connectionString, service: given.service, clock, log });
  const stores = storesOf(given, locks);
  const cache = given.cache ?? cacheOf(given, clock, cacheAlarm({ database, locks, clock }));
  const topics = topicsOf({ settings, database, locks, cache, clock, loops: loopWatches, log });
  return {
    ...given,
    clock,
    random,
    ids: given.ids ?? uuidV7Ids(clock, random),
    loops: loopWatches,
    derive: deriveFrom(settings),
    cache,
    database,
    locks,
    storeFor: (name) => stores.forLog(name),
    publisher: topics.publisher,
    subscriberFor: topics.subscriberFor,
    close: () =>
      stopAll(
        [database, cache, locks, stores, topics].map((each) => ({ stop: () => each.close() })),
      ),
  };
}

function storesOf(
  { settings, service, log: logger }: Given,
  session: ProcessSession,
): PostgresEventStores | EventStoreDbStores {
  const { DATABASE_URL, EVENTSTORE_URL: url } = settings;
  if (url !== undefined) return eventStoreDbStores({ url: url.reveal(), logger });
  return postgresEventStores({
    connectionString: DATABASE_URL.reveal(),
    role: rolesOf(service).app,
    service,
    session,
    logger,
  });
}

function cacheOf({ settings, log }: Given, clock: Clock, alarm: CacheAlarm): Cache {
  const { REDIS_URL } = settings;
  if (REDIS_URL === undefined) return inProcessCache(clock);
  const onState = (isUp: boolean): void =>
    metrics.dependencyUp.set({ name: 'redis' }, Number(isUp));
  return redisCache({ url: REDIS_URL.reveal(), clock, log, onState, alarm });
}
