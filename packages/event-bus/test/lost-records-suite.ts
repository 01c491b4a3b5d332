/** Records are lost before a consumer has read them. Each adapter loses them in its own ways. */
import { type ServiceName, topicOf } from '@cardea/contracts';
import { untilTrue } from '@cardea/testing';
import type { Client } from 'pg';
import { expect } from 'vitest';
import { askForReplay, relayPositionKey } from '../src/index.ts';
import { keyOf, partitionOf } from '../src/partition.ts';
import { type BusSide, countingConsumer, effectsOf, upTo } from './bus-fixture.ts';
import { appendRound, relaySide } from './relay-fixture.ts';

/** The tenant that `counted` uses. */
const TENANT = 'acme';
const STREAMS = ['lost-1', 'lost-2', 'lost-3', 'lost-4', 'lost-5'];
const DEADLINE = { deadlineMs: 60_000 };

export async function loseAndReplay(of: {
  readonly url: string;
  readonly client: Client;
  readonly log: ServiceName;
  readonly openBus: () => BusSide;
  /** Deletes all records of the topic, or the topic itself. */
  readonly lose: (topic: string) => Promise<void>;
}): Promise<void> {
  const { log, client } = of;
  const topic = topicOf(log);
  const side = relaySide(of.url, log, of.openBus());
  const [late, live] = [
    countingConsumer(`late-${log}`, topic),
    countingConsumer(`live-${log}`, topic),
  ];
  const isWhole = (name: string, rounds: number) => async () => {
    const seen = await effectsOf(client, name);
    return STREAMS.every((stream) => (seen.get(stream)?.length ?? 0) >= rounds);
  };
  const isRelayed = async () =>
    (await side.cache.get(relayPositionKey(log))) === String(await side.store.head(log));
  const rounds = async (from: number, to: number) => {
    for (let number = from; number <= to; number += 1) {
      await appendRound(side.store, STREAMS, number);
    }
    await untilTrue(isRelayed, { ...DEADLINE, what: `round ${to} is relayed` });
  };
  const relay = side.start();
  await side.subscriber.run(live);
  const first = await side.subscriber.run(late);
  await rounds(1, 3);
  await untilTrue(isWhole(late.name, 3), { ...DEADLINE, what: 'all before the loss' });
  await first.stop();
  await rounds(4, 6);
  await untilTrue(isWhole(live.name, 6), { ...DEADLINE, what: 'what the live consumer reads' });
  await of.lose(topic);
  // A topic that was created again has the offset at which the late consumer stopped, so only the record there reveals
  // the loss. It does not have the offset of the live consumer yet, so without a new join no consumer reads there.
  await rounds(7, 11);

  const second = await side.subscriber.run(late);
  const isSaid = () =>
    side.degraded().some((reason) => reason.includes('lapsed') && reason.includes(`${topic}/`));
  await untilTrue(isSaid, { ...DEADLINE, what: 'the loss is reported with topic and partition' });
  // A replay repairs only losses that were found before it began, and each partition finds its loss separately.
  const lapsedAt = async (name: string) =>
    new Set((await side.subscriber.lapsed(name, [topic])).map(({ partition }) => partition));
  const isFound = (name: string) => async () => {
    const [seen, found] = [await effectsOf(client, name), await lapsedAt(name)];
    return STREAMS.every(
      (stream) =>
        (seen.get(stream)?.length ?? 0) >= 11 ||
        found.has(partitionOf(keyOf({ tenantId: TENANT, streamId: stream }))),
    );
  };
  for (const { name } of [late, live]) {
    await untilTrue(isFound(name), { ...DEADLINE, what: `every partition lost at ${name}` });
  }
  const lost = await side.subscriber.lapsed(late.name, [topic]);
  expect(lost.length).toBeGreaterThan(0);
  for (const stream of STREAMS) {
    // A partition without losses may continue, but no stream continues past a gap.
    const seen = (await effectsOf(client, late.name)).get(stream) ?? [];
    expect(seen).toEqual(upTo(seen.length));
  }

  const lowest = lost.map(({ position }) => position).toSorted((a, b) => Number(a - b))[0] ?? 0n;
  const replay = await askForReplay(side.needs.database, { log, from: lowest });
  const isDone = async () => ((await replay.progress()) ?? -1n) >= replay.through;
  await untilTrue(isDone, { ...DEADLINE, what: 'the relay has sent all again' });
  await rounds(12, 12);
  for (const { name } of [late, live]) {
    await untilTrue(isWhole(name, 12), { ...DEADLINE, what: `all rounds at ${name}` });
  }
  await untilTrue(() => side.degraded().length === 0, { ...DEADLINE, what: 'all is well again' });
  expect(await side.subscriber.lapsed(late.name, [topic])).toEqual([]);

  await second.stop();
  await side.subscriber.run(late);
  await rounds(13, 13);
  for (const { name } of [late, live]) {
    await untilTrue(isWhole(name, 13), { ...DEADLINE, what: `the last round at ${name}` });
    const seen = await effectsOf(client, name);
    for (const stream of STREAMS) expect(seen.get(stream)).toEqual(upTo(13));
  }
  await relay.stop();
  await side.close();
}
