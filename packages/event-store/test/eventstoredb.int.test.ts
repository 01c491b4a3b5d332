import { type EventStore, eventStoreDbStores, type Log } from '@cardea/event-store';
import { type FakeEventStore, startFakeEventStore } from '@cardea/testing';
import { afterAll, beforeAll, describe } from 'vitest';
import { describeEventStore } from './conformance.ts';
import { needEventStoreDb } from './real-server.ts';
import { writerProcesses } from './writer-processes.ts';

const storeAt = (url: string, log: Log): EventStore => {
  const stores = eventStoreDbStores({ url });
  return { ...stores.forLog(log), close: stores.close };
};

describe('over the fake server', () => {
  let standIn: FakeEventStore;
  beforeAll(async () => {
    standIn = await startFakeEventStore();
  });
  afterAll(() => standIn.stop());

  const { startWriter } = writerProcesses(() => standIn.url);
  describeEventStore('EventStoreDB, stand-in', () => ({
    open: (log) => storeAt(standIn.url, log),
    startWriter,
    holdSnapshot: async () => async () => {},
    dense: false,
    holdsBasis: false,
  }));
});

describe('over the real server', () => {
  const server = needEventStoreDb();
  const { startWriter } = writerProcesses(() => server.url);
  describeEventStore('EventStoreDB', () => ({
    open: (log) => storeAt(server.url, log),
    startWriter,
    holdSnapshot: async () => async () => {},
    dense: false,
    holdsBasis: false,
  }));
});
