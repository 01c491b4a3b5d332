import type { NewEvent } from '@cardea/event-store';
import { fakeClock } from '@cardea/runtime';
import { inMemoryEventStore } from '@cardea/testing';
import { expect, it } from 'vitest';
import { openLogReader } from './log-reader.ts';

const LOG = 'authz' as const;
const ASKS_MS = 1000;

const event = (): NewEvent => ({
  id: crypto.randomUUID(),
  type: 'TupleWritten',
  schemaVersion: 1,
  time: new Date(0),
  data: {},
  metadata: { tenantId: 'acme', actor: { type: 'system', id: 'test' } },
});

it('a log is read for what is known here, and the server asked once in a while', async () => {
  const clock = fakeClock('2031-05-04T03:02:01Z');
  const inner = inMemoryEventStore(LOG);
  const reads: string[] = [];
  const store: typeof inner = {
    ...inner,
    readLog: (...asked) => {
      reads.push('server');
      return inner.readLog(...asked);
    },
    followLog: (...asked) => {
      reads.push('memory');
      return inner.followLog(...asked);
    },
  };
  const reader = await openLogReader(store, LOG, { clock, asksServerMs: ASKS_MS });
  const append = (streamId: string) =>
    store.append([{ streamId, expected: 'any', events: [event()] }]);

  expect(await reader.page(0n)).toMatchObject({ events: [], askedAtMs: clock.monotonicMs() });
  await append('tuple-a');
  const { events, askedAtMs } = await reader.page(0n);
  expect([events.length, askedAtMs]).toEqual([1, undefined]);
  await clock.advance(ASKS_MS);
  await append('tuple-b');
  expect(await reader.page(1n)).toMatchObject({ askedAtMs: clock.monotonicMs() });
  expect(reads).toEqual(['server', 'memory', 'server']);
  await reader.close();
});
