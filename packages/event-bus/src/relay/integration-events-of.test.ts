import type { RecordedEvent } from '@cardea/event-store';
import { expect, it } from 'vitest';
import { integrationEventsOf } from './integration-events-of.ts';

const sealed = (box: string) => ({ subject: 'context:t', box });
const event = (position: bigint, box: string): RecordedEvent => ({
  log: 'authz',
  streamId: `tuple-${position}`,
  revision: 1,
  position,
  id: String(position),
  type: 'Noted',
  schemaVersion: 1,
  time: new Date(0),
  data: {},
  metadata: {
    tenantId: 't',
    actor: { type: 'system', id: 'test' },
    ip: sealed(box),
    userAgent: sealed(box),
  },
});

function fixture() {
  const opened: string[] = [];
  const map = integrationEventsOf({
    map: async () => ({ type: 'noted', data: {} }),
    store: { readStream: async () => [] },
    sealer: {
      open: async ({ box }, { field }) => {
        opened.push(`${field} ${box}`);
        return `${field} of ${box}`;
      },
    },
    kindOf: () => ({ mayBePublished: () => true, faults: () => [] }) as never,
    logEpoch: 'epoch',
  });
  return { opened, map };
}

it('opens what the events of one command share once for a batch', async () => {
  const { opened, map } = fixture();
  const contexts = new Map<string, string | null>();
  const events = [event(1n, 'one'), event(2n, 'one'), event(3n, 'two')];
  const mapped = [];
  for (const each of events) mapped.push(...(await map(each, contexts)));
  expect(mapped.map(({ data }) => data.context)).toMatchObject([
    { ip: 'ip of one', user_agent: 'user_agent of one' },
    { ip: 'ip of one', user_agent: 'user_agent of one' },
    { ip: 'ip of two', user_agent: 'user_agent of two' },
  ]);
  expect(opened).toEqual(['user_agent one', 'ip one', 'user_agent two', 'ip two']);
});

it('opens it again for another batch, because it may have been erased', async () => {
  const { opened, map } = fixture();
  await map(event(1n, 'one'));
  await map(event(2n, 'one'));
  expect(opened).toEqual(['user_agent one', 'ip one', 'user_agent one', 'ip one']);
});
