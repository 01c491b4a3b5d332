/**
 * Each call that a relay makes throws once, in turn, or always throws for one stream. Every other stream reaches its
 * consumer completely, in order and once, also after a restart. In the end so does that stream.
 */
import { type IntegrationEvent, type ServiceName, topicOf } from '@cardea/contracts';
import { parkedStreams } from '@cardea/log-follower';
import { testDatabase, untilTrue } from '@cardea/testing';
import type { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RelayDependencies, RelayMapper } from '../src/index.ts';
import {
  type BusSide,
  connect,
  countingConsumer,
  EFFECTS,
  effectsOf,
  postgresSide,
  upTo,
} from './bus-fixture.ts';
import { appendRound, mapCounted, relaySide } from './relay-fixture.ts';

const database = testDatabase();
let client: Client;
beforeAll(async () => {
  client = await connect(database.url);
  await client.query(EFFECTS);
});
afterAll(() => client?.end());

const ROUNDS = 3;
const CALLS_MAX = 40;

type Fault = { readonly isDue: (call: number, streams: readonly string[]) => boolean };

/** A relay whose store, mapper and publisher throw when the fault is due. */
const faultyRelay = (log: ServiceName, bus: BusSide, { isDue }: Fault) => {
  let calls = 0;
  const check = (streams: readonly string[]): void => {
    calls += 1;
    if (isDue(calls, streams)) throw new TypeError('injected');
  };
  const streamsIn = (events: readonly IntegrationEvent[]) => events.map((one) => one.streamId);
  const publisher: RelayDependencies['publisher'] = {
    publish: async (topic, events) => {
      check(streamsIn(events));
      await bus.publisher.publish(topic, events);
    },
    publishThrough: async (topic, events, checkpoint) => {
      check(streamsIn(events));
      await bus.publisher.publishThrough?.(topic, events, checkpoint);
    },
    ends: (topic) => bus.publisher.ends(topic),
    close: async () => {},
  };
  const map: RelayMapper = async (event, tools) => {
    check([event.streamId]);
    await tools.history();
    return await mapCounted(event, tools);
  };
  const plain = relaySide(database.url, log, bus);
  const store: RelayDependencies['store'] = {
    ...plain.store,
    followLog: async (...asked) => {
      check([]);
      return await plain.store.followLog(...asked);
    },
    readLog: async (...asked) => {
      check([]);
      return await plain.store.readLog(...asked);
    },
    readStream: async (streamId, from) => {
      check([streamId]);
      return await plain.store.readStream(streamId, from);
    },
  };
  const side = relaySide(database.url, log, bus, { store, publisher });
  return {
    calls: () => calls,
    start: () => side.start(map),
    close: async () => {
      await side.locks.close();
      await side.store.close();
      await plain.locks.close();
      await plain.store.close();
    },
  };
};

describe('C5 a relay', () => {
  it('loses nothing and doubles nothing, whichever call throws once', {
    timeout: 240_000,
  }, async () => {
    const log = 'vault';
    const bus = postgresSide(database.url);
    const side = relaySide(database.url, log, bus);
    await bus.subscriber.run(countingConsumer('once', topicOf(log)));
    let call = 0;
    for (let isReached = true; isReached && call < CALLS_MAX; ) {
      call += 1;
      const streams = [1, 2, 3].map((n) => `thing-${call}x${n}`);
      for (const number of upTo(ROUNDS)) await appendRound(side.store, streams, number);
      const relay = faultyRelay(log, bus, { isDue: (at) => at === call });
      const running = relay.start();
      const done = async () => {
        const seen = await effectsOf(client, 'once');
        const parked = (await parkedStreams(side.needs.database, log)).map((one) => one.streamId);
        return streams.every(
          (stream) => seen.get(stream)?.length === ROUNDS || parked.includes(stream),
        );
      };
      await untilTrue(done, { what: `all but parked streams after a throw at call ${call}` });
      expect((await parkedStreams(side.needs.database, log)).length).toBeLessThanOrEqual(1);
      isReached = relay.calls() >= call;
      await running.stop();
      await relay.close();

      // A stream that was parked by a failure that does not repeat is sent at the next start of a relay.
      const healthy = relaySide(database.url, log, bus);
      const again = healthy.start();
      const isWhole = async () => {
        const seen = await effectsOf(client, 'once');
        return streams.every((stream) => (seen.get(stream)?.length ?? 0) >= ROUNDS);
      };
      await untilTrue(isWhole, { what: `all streams after a throw at call ${call}` });
      await again.stop();
      await healthy.locks.close();
      await healthy.store.close();
      const seen = await effectsOf(client, 'once');
      for (const stream of streams) expect(seen.get(stream)).toEqual(upTo(ROUNDS));
    }
    expect(call).toBeGreaterThan(5);
    await side.close();
  });

  it('goes on though every call that has one stream throws, also after a restart', {
    timeout: 120_000,
  }, async () => {
    const log = 'approval';
    const bus = postgresSide(database.url);
    const side = relaySide(database.url, log, bus);
    const streams = ['thing-1', 'thing-2', 'thing-3'];
    await bus.subscriber.run(countingConsumer('always', topicOf(log)));
    const rounds = { count: 0 };
    const round = async () => {
      rounds.count += 1;
      await appendRound(side.store, streams, rounds.count);
    };
    for (const _ of upTo(3)) await round();
    for (const start of upTo(3)) {
      const isDue: Fault['isDue'] = (_, names) => names.includes('thing-2');
      const relay = faultyRelay(log, bus, { isDue });
      const running = relay.start();
      await round();
      const flows = async () => {
        const seen = await effectsOf(client, 'always');
        return ['thing-1', 'thing-3'].every((name) => seen.get(name)?.length === rounds.count);
      };
      await untilTrue(flows, { what: `the other streams at start ${start}` });
      await running.stop();
      await relay.close();
    }
    const parked = await parkedStreams(side.needs.database, log);
    expect(parked).toMatchObject([{ owner: `relay:${log}`, streamId: 'thing-2' }]);
    const healthy = relaySide(database.url, log, bus);
    const running = healthy.start();
    const seen = () => effectsOf(client, 'always');
    await untilTrue(async () => (await seen()).get('thing-2')?.length === rounds.count);
    await running.stop();
    await healthy.locks.close();
    await healthy.store.close();
    for (const name of streams) expect((await seen()).get(name)).toEqual(upTo(rounds.count));
    await side.close();
  });
});
