import { randomUUID } from 'node:crypto';
import type { ServiceName } from '@cardea/contracts';
import { type EventStore, type NewEvent, postgresEventStore } from '@cardea/event-store';
import { processSession } from '@cardea/postgres';
import { inProcessCache, loops, systemClock } from '@cardea/runtime';
import { type RelayDependencies, type RelayMapper, startRelay } from '../src/index.ts';
import { type BusSide, kindOfTest, quiet } from './bus-fixture.ts';

/** A relay on the log of its own store, as in a process. */
export const relaySide = (
  url: string,
  log: ServiceName,
  bus: BusSide,
  over: Partial<RelayDependencies> = {},
) => {
  const locks = processSession({ connectionString: url, clock: systemClock, log: quiet });
  const store = postgresEventStore({ connectionString: url, role: 'cardea_system', log });
  const cache = inProcessCache(systemClock);
  const watched = loops(systemClock);
  const needs: RelayDependencies = {
    store,
    publisher: bus.publisher,
    database: bus.needs.database,
    schema: log,
    bus: bus.needs.database,
    locks,
    cache,
    sealer: { open: async ({ box }) => (box === 'erased' ? null : `opened ${box}`) },
    kindOf: kindOfTest,
    clock: systemClock,
    loops: watched,
    log: quiet,
    ...over,
  };
  return {
    ...bus,
    store,
    cache,
    locks,
    start: (map: RelayMapper = mapCounted) => startRelay({ log, map }, needs),
    relayDegraded: () => watched.state().flatMap(({ degraded }) => degraded ?? []),
    close: async () => {
      await locks.close();
      await bus.close();
      await store.close();
      await cache.close();
    },
  };
};

export type RelaySide = ReturnType<typeof relaySide>;

/** `ThingCounted` becomes `thing.counted`; `Silent` publishes nothing. */
export const mapCounted: RelayMapper = (event) =>
  event.type === 'ThingCounted' ? { type: 'thing.counted', data: { ...event.data } } : undefined;

export const counted = (number: number, over: Partial<NewEvent> = {}): NewEvent => ({
  id: randomUUID(),
  type: 'ThingCounted',
  schemaVersion: 1,
  time: new Date('2031-05-04T03:02:01.007Z'),
  data: { number },
  metadata: { tenantId: 'acme', actor: { type: 'user', id: 'ann' } },
  ...over,
});

/** Appends the next number to each stream, several streams at once, and returns the ids. */
export const appendRound = async (
  store: EventStore,
  streams: readonly string[],
  number: number,
): Promise<readonly string[]> => {
  const events = streams.map(() => counted(number));
  const outcomes = await store.append(
    streams.map((streamId, index) => ({
      streamId,
      expected: 'any',
      events: [events[index] as NewEvent],
    })),
  );
  return events.flatMap(({ id }, index) => (outcomes[index]?.appended === true ? [id] : []));
};
