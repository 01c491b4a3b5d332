import { type IntegrationEvent, type ServiceName, topicOf } from '@cardea/contracts';
import { discardParkedStream } from '@cardea/log-follower';
import { type ProcessFixture, programOf, untilTrue } from '@cardea/testing';
import type { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { relayPositionKey } from '../src/index.ts';
import { type BusSide, countingConsumer, countOf, effectsOf, upTo } from './bus-fixture.ts';
import { appendRound, counted, mapCounted, type RelaySide, relaySide } from './relay-fixture.ts';

/**
 * The functions that the suite needs from an adapter. Each adapter runs the same tests under the same names.
 */
export type RelayFixture = {
  readonly url: string;
  /** Reads effects. */
  readonly client: Client;
  readonly processes: ProcessFixture;
  /** Opens the bus as another process would. */
  openBus(): BusSide;
  /** Events of a topic in the order of their partitions. */
  eventsOn(topic: string): Promise<readonly IntegrationEvent[]>;
  /** `host:port`s for a separate process. If empty, the topics are tables. */
  readonly brokers: string;
  /** Whether events and checkpoint commit together, so that no crash of the relay repeats any. */
  readonly publishesOnce: boolean;
};

/** Without it, a whole core would append while the process loads its code. */
const ROUND_PAUSE_MS = 10;

/** The positions of a stream's first occurrences rise. Any other record is a repeat. */
const expectOrderPerStream = (events: readonly IntegrationEvent[]): void => {
  const highest = new Map<string, bigint>();
  const ids = new Set<string>();
  for (const { id, streamId, position } of events) {
    const isNew = !ids.has(id);
    ids.add(id);
    if (isNew) expect(BigInt(position)).toBeGreaterThan(highest.get(streamId) ?? 0n);
    if (isNew) highest.set(streamId, BigInt(position));
  }
};

export function describeRelay(adapter: string, fixture: () => RelayFixture): void {
  describe(`relay, ${adapter}`, () => {
    let sides: RelaySide[];
    const open = (log: ServiceName): RelaySide => {
      const side = relaySide(fixture().url, log, fixture().openBus());
      sides.push(side);
      return side;
    };
    const onTopic = (log: ServiceName) => fixture().eventsOn(topicOf(log));
    beforeEach(() => {
      sides = [];
    });
    afterEach(async () => {
      await Promise.all(sides.map((side) => side.close()));
    });

    it('says what happened, who did it and from where, and what was erased is null', async () => {
      const side = open('identity');
      const sealed = (box: string) => ({ subject: 'context:acme:2031-05-04', box });
      const event = counted(1, {
        metadata: {
          tenantId: 'acme',
          actor: { type: 'user', id: 'ann' },
          agentId: 'robot',
          appId: 'web',
          requestId: 'r-1',
          correlationId: 'c-1',
          ip: sealed('ip'),
          userAgent: sealed('erased'),
        },
      });
      const silent = counted(2, { type: 'Silent' });
      await side.store.append([{ streamId: 'thing-1', expected: 0, events: [event, silent] }]);
      const relay = side.start();
      await untilTrue(async () => (await side.cache.get(relayPositionKey('identity'))) === '2');
      await relay.stop();
      const [published, ...more] = await onTopic('identity');
      expect(more).toEqual([]);
      expect(published).toMatchObject({
        id: event.id,
        type: 'thing.counted',
        source: 'identity',
        tenantId: 'acme',
        streamId: 'thing-1',
        position: '1',
        actor: { type: 'user', id: 'ann' },
        correlationId: 'c-1',
      });
      expect(published?.data).toEqual({
        number: 1,
        context: {
          ip: 'opened ip',
          user_agent: null,
          app_id: 'web',
          agent_id: 'robot',
          request_id: 'r-1',
        },
      });
    });

    it('R27 parks a stream that cannot be mapped, and sends it in order when it can', async () => {
      const log = 'vault';
      const side = open(log);
      const numbers = upTo(6);
      const streams = ['thing-1', 'thing-2', 'thing-3'];
      for (const number of numbers) await appendRound(side.store, streams, number);
      const seen = () => effectsOf(fixture().client, 'late');
      await side.subscriber.run({
        ...countingConsumer('late', topicOf(log)),
      });
      const broken = side.start((event, tools) => {
        const isPoison = event.streamId === 'thing-2' && event.data['number'] === 3;
        return isPoison
          ? { type: 'thing.counted', data: { number: 'x' } }
          : mapCounted(event, tools);
      });
      await untilTrue(async () => countOf(await seen()) === 14);
      expect((await seen()).get('thing-2')).toEqual([1, 2]);
      await untilTrue(() => side.relayDegraded().includes('parked streams: 1'));
      await broken.stop();

      const healed = open(log);
      await appendRound(healed.store, streams, 7);
      const relay = healed.start();
      await appendRound(healed.store, streams, 8);
      await untilTrue(async () => countOf(await seen()) === 24);
      for (const stream of streams) expect((await seen()).get(stream)).toEqual(upTo(8));
      await untilTrue(() => healed.relayDegraded().length === 0);
      await relay.stop();
    });

    it('sends what came before an event that was parked, though a crash lay between', async () => {
      const log = 'audit';
      const side = open(log);
      for (const number of upTo(3)) await appendRound(side.store, ['thing-1', 'thing-2'], number);
      const [, second] = await side.store.readStream('thing-1');
      await fixture().client.query(
        `INSERT INTO audit.parked_events (owner, stream_id, position, event_id, event_type, error_code)
         VALUES ('relay:audit', 'thing-1', $1, $2, 'ThingCounted', 'TypeError')`,
        [String(second?.position), second?.id],
      );
      const relay = side.start();
      await side.subscriber.run(countingConsumer('behind', topicOf(log)));
      const seen = () => effectsOf(fixture().client, 'behind');
      await untilTrue(async () => countOf(await seen()) === 4);
      expect((await seen()).get('thing-1')).toEqual([1]);
      expect((await seen()).get('thing-2')).toEqual([1, 2, 3]);

      // Once its events are discarded, the stream continues with later ones, without a restart of the
      // relay.
      const of = { schema: log, owner: `relay:${log}`, streamId: 'thing-1' };
      expect(await discardParkedStream(side.needs.database, of)).toBe(1);
      await untilTrue(() => side.relayDegraded().length === 0);
      await appendRound(side.store, ['thing-1', 'thing-2'], 4);
      await untilTrue(async () => countOf(await seen()) === 6);
      await relay.stop();
      expect((await seen()).get('thing-1')).toEqual([1, 4]);
    });

    it('is taken over by the process that stands by, without a loss', async () => {
      const log = 'approval';
      const [first, second] = [open(log), open(log)];
      const leader = first.start();
      await appendRound(first.store, ['thing-1'], 1);
      // An event may be sent twice when another relay takes over, so only first occurrences count.
      const numbers = async () => [
        ...new Set((await onTopic(log)).map(({ data }) => data['number'])),
      ];
      await untilTrue(async () => (await numbers()).length === 1);
      const standby = second.start();
      await appendRound(first.store, ['thing-1'], 2);
      await untilTrue(async () => (await numbers()).length === 2);
      await first.locks.close();
      await appendRound(first.store, ['thing-1'], 3);
      await untilTrue(async () => (await numbers()).length === 3);
      await Promise.all([leader.stop(), standby.stop()]);
      expect(await numbers()).toEqual([1, 2, 3]);
    });

    it('R3 brings 5,000 events to the topic in order, with less than one repeat in a hundred', async () => {
      const log = 'authz';
      const side = open(log);
      const relay = side.start();
      const streams = Array.from({ length: 100 }, (_, index) => `thing-${index}`);
      const acked: string[] = [];
      for (const number of upTo(50))
        acked.push(...(await appendRound(side.store, streams, number)));
      const last = String(await side.store.head(log));
      await untilTrue(async () => (await side.cache.get(relayPositionKey(log))) === last, {
        deadlineMs: 60_000,
      });
      await relay.stop();
      const events = await onTopic(log);
      const ids = new Set(events.map(({ id }) => id));
      expect(acked.length).toBe(5000);
      expect(acked.filter((id) => !ids.has(id))).toEqual([]);
      expect(events.length - ids.size).toBeLessThan(50);
      expectOrderPerStream(events);
    });

    it('R2 loses nothing and doubles no effect, wherever relay and consumer are killed', {
      timeout: 300_000,
    }, async () => {
      const log = 'webhooks';
      const script = programOf(new URL('./bus-process.ts', import.meta.url));
      const start = (failPoints: string) =>
        fixture().processes.start({
          name: `bus ${failPoints}`,
          script,
          args: [fixture().url, log, 'killed', failPoints, fixture().brokers],
          ready: /ready/,
        });
      const side = open(log);
      const streams = ['thing-1', 'thing-2', 'thing-3', 'thing-4', 'thing-5'];
      const acked: string[] = [];
      let number = 0;
      for (const point of [
        'relay.after_read',
        'relay.after_publish',
        'relay.before_checkpoint',
        'consumer.before_commit',
        'consumer.after_commit',
      ]) {
        const victim = await start(`${point}=kill@2`);
        let ended = false;
        void victim.ended.then(() => {
          ended = true;
        });
        while (!ended) {
          number += 1;
          acked.push(...(await appendRound(side.store, streams, number)));
          await new Promise((resolve) => setTimeout(resolve, ROUND_PAUSE_MS));
        }
        expect(await victim.ended).toBe('SIGKILL');
      }
      const relay = side.start();
      await side.subscriber.run(countingConsumer('killed', topicOf(log)));
      await untilTrue(
        async () => countOf(await effectsOf(fixture().client, 'killed')) >= acked.length,
        // The killed member may have appended this many events before its death was noticed.
        { deadlineMs: 120_000, what: 'all effects' },
      );
      await relay.stop();
      const seen = await effectsOf(fixture().client, 'killed');
      for (const stream of streams) expect(seen.get(stream)).toEqual(upTo(number));
      const events = await onTopic(log);
      const ids = new Set(events.map(({ id }) => id));
      expect(acked.filter((id) => !ids.has(id))).toEqual([]);
      if (fixture().publishesOnce) expect(events.length).toBe(ids.size);
      else expect(events.length).toBeGreaterThan(ids.size);
      expectOrderPerStream(events);
    });
  });
}
