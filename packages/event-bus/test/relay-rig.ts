import { randomUUID } from 'node:crypto';
import type { ServiceName } from '@cardea/contracts';
import { type EventStore, type NewEvent, postgresEventStore } from '@cardea/event-store';
import { inProcessCache, loops, systemClock } from '@cardea/runtime';
import { type RelayMapper, type RelayNeeds, startRelay } from '../src/index.ts';
import { kindOfTest, postgresSide, quiet } from './rig.ts';

/** A relay as a process has it, on a log of its own store. */
export const relaySide = (url: string, log: ServiceName, over: Partial<RelayNeeds> = {}) => {
  const side = postgresSide(url);
  const store = postgresEventStore({ connectionString: url, role: 'cardea_system', log });
  const cache = inProcessCache(systemClock);
  const watched = loops(systemClock);
  const needs: RelayNeeds = {
    store,
    publisher: side.publisher,
    database: side.database,
    schema: log,
    bus: side.database,
    locks: side.locks,
    cache,
    sealer: { open: async ({ box }) => (box === 'erased' ? null : `opened ${box}`) },
    kindOf: kindOfTest,
    clock: systemClock,
    loops: watched,
    log: quiet,
    ...over,
  };
  return {
    ...side,
    store,
    cache,
    start: (map: RelayMapper = mapCounted) => startRelay({ log, map }, needs),
    relayDegraded: () => watched.state().flatMap(({ degraded }) => degraded ?? []),
    close: async () => {
      await side.close();
      await store.close();
      await cache.close();
    },
  };
};

/** `ThingCounted` becomes `thing.counted`; `Silent` nothing. */
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

/** Appends the next numbers of each stream, some streams at once, and answers the ids. */
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
