import type { EventStore, Log, RecordedEvent } from '@cardea/event-store';
import { untilTrue } from '@cardea/testing';
import { expect, it } from 'vitest';
import { EVENTS_PER_APPEND, type Writer } from './appending.ts';
import { type EventStoreFixture, newAppend } from './store-fixture.ts';

const WRITE_MS = Number(process.env['CARDEA_R23_SECONDS'] ?? 2) * 1000;
const ACKED_MIN = 20;

export function describeOrder(
  fixture: () => EventStoreFixture,
  stores: () => { readonly store: EventStore; readonly other: EventStore },
): void {
  it('R23 shows a polling reader no hole and no reversal while several processes write', async () => {
    const { store } = stores();
    const log: Log = 'authz';
    const writers = await Promise.all(['a', 'b'].map((name) => fixture().startWriter(log, name)));
    const reader = polling(store, log);
    const end = performance.now() + WRITE_MS;
    await untilTrue(
      () => performance.now() > end && writers.every((each) => each.acked().size >= ACKED_MIN),
      { deadlineMs: WRITE_MS + 60_000 },
    );
    await Promise.all(writers.map((writer) => writer.stop()));
    await reader.finish();

    const inOrder = await all(store, log);
    expect(reader.seen).toEqual(inOrder.map((event) => event.position));
    expectWhole(inOrder, writers, fixture().dense);
  });

  it('R23 survives the SIGKILL of a writer in the middle of a batch', async () => {
    const { store } = stores();
    const log: Log = 'approval';
    const [victim, survivor] = [
      await fixture().startWriter(log, 'victim'),
      await fixture().startWriter(log, 'survivor'),
    ];
    const reader = polling(store, log);
    await untilTrue(() => victim.acked().size >= ACKED_MIN);
    await victim.kill();
    const ackedThen = survivor.acked().size;
    await untilTrue(() => survivor.acked().size > ackedThen + ACKED_MIN);
    await survivor.stop();
    await reader.finish();

    const inOrder = await all(store, log);
    const seen = reader.seen.length;
    expect(reader.seen).toEqual(inOrder.slice(0, seen).map((event) => event.position));
    // The server may still store what the killed writer had sent.
    const later = inOrder.slice(seen).filter(({ streamId }) => !streamId.startsWith('victim-'));
    expect(later).toEqual([]);
    expectWhole(inOrder, [victim, survivor], fixture().dense);
  });

  it('R23 is not held up by a snapshot that someone keeps', async () => {
    const { store, other } = stores();
    const release = await fixture().holdSnapshot();
    try {
      const head = await other.head('identity');
      const append = newAppend();
      await store.append([append]);
      expect(await other.readLog('identity', head, 10)).toMatchObject([
        { streamId: append.streamId },
      ]);
    } finally {
      await release();
    }
  });
}

/** Reads continuously, each time from after the last event that it has read. */
function polling(store: EventStore, log: Log) {
  const seen: bigint[] = [];
  let finishing = false;
  const read = async () => {
    while (true) {
      const last = finishing;
      const events = await store.readLog(log, seen.at(-1) ?? 0n, 100);
      for (const event of events) seen.push(event.position);
      if (last && events.length === 0) return;
      await new Promise(setImmediate); // Lets others run, since a store may resolve at once.
    }
  };
  const reading = read();
  const finish = () => {
    finishing = true;
    return reading;
  };
  return { seen, finish };
}

async function all(store: EventStore, log: Log): Promise<readonly RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  while (true) {
    const more = await store.readLog(log, events.at(-1)?.position ?? 0n, 1000);
    if (more.length === 0) return events;
    events.push(...more);
  }
}

function expectWhole(
  events: readonly RecordedEvent[],
  writers: readonly Writer[],
  dense: boolean,
): void {
  if (dense) expect(events.at(-1)?.position).toBe(BigInt(events.length));
  const lengths = new Map<string, number>();
  for (const { streamId, revision } of events) {
    expect(revision).toBe((lengths.get(streamId) ?? 0) + 1);
    lengths.set(streamId, revision);
  }
  for (const writer of writers) {
    for (const streamId of writer.acked()) expect(lengths.has(streamId)).toBe(true);
  }
  expect(new Set(lengths.values())).toEqual(new Set([EVENTS_PER_APPEND]));
}
