import type { IntegrationEvent } from '@cardea/contracts';
import type { Database } from '@cardea/read-models';
import { describe, expect, it } from 'vitest';
import { partitionOf } from '../partition.ts';
import { postgresPublisher } from './publisher.ts';
import type { SentRecord } from './topic-tails.ts';

const TOPIC = 'cardea.identity.events.v1';

function streamIn(partition: number): string {
  for (let nth = 0; ; nth += 1) if (partitionOf(`t:s${nth}`) === partition) return `s${nth}`;
}
const [SECOND, SIXTH, ELEVENTH] = [streamIn(2), streamIn(6), streamIn(11)];

/** A publisher whose partitions all end at 100 before it sends. */
function fixture({ isHeard = true } = {}) {
  const sent: (readonly unknown[])[] = [];
  const told: SentRecord[] = [];
  const query = async (_: unknown, values: readonly unknown[] = []) => {
    sent.push(values);
    const [partitions, counts] = [values[1] as number[], values[2] as number[]];
    const rows = partitions.map((partition, index) => ({
      at_partition: partition,
      next_at: String(100 + (counts[index] ?? 0)),
    }));
    return { rows, rowCount: rows.length };
  };
  const publisher = postgresPublisher({
    database: { system: { query } as Database['system'] },
    tails: {
      publisher: '@here',
      published: (_topic, records) => told.push(...records),
      uncertain: () => {},
    },
    locks: { others: { arePossible: () => isHeard, onHeard: () => () => {} } },
  });
  return { publisher, sent, told };
}

const event = (streamId: string, position: number, type = 'user.created') =>
  ({ tenantId: 't', streamId, position: String(position), type }) as IntegrationEvent;

describe('records that are published together', () => {
  const events = [event(ELEVENTH, 1), event(SECOND, 2), event(ELEVENTH, 3), event(SIXTH, 4)];

  it('are sent by partition, each counted from the end of its own', async () => {
    const { publisher, sent } = fixture();
    await publisher.publish(TOPIC, events);
    const [[, partitions, counts, of, beforeEnd, keys, , json] = []] = sent;
    expect([partitions, counts]).toEqual([
      [2, 6, 11],
      [1, 1, 2],
    ]);
    expect([of, beforeEnd, keys]).toEqual([
      [2, 6, 11, 11],
      [1, 1, 2, 1],
      [SECOND, SIXTH, ELEVENTH, ELEVENTH].map((stream) => `t:${stream}`),
    ]);
    const positions = JSON.parse(String(json)).map((each: IntegrationEvent) => each.position);
    expect(positions).toEqual(['2', '4', '1', '3']);
  });

  it('are known here under the offsets that they got', async () => {
    const { publisher, told } = fixture();
    await publisher.publish(TOPIC, events);
    expect(told.map(({ partition, offset, position }) => [partition, offset, position])).toEqual([
      [11, 100n, '1'],
      [2, 100n, '2'],
      [11, 101n, '3'],
      [6, 100n, '4'],
    ]);
  });
});

describe('the notice of what was published', () => {
  const NOTICE = 8;
  const noticeOf = async (types: readonly string[], options?: { readonly isHeard: boolean }) => {
    const { publisher, sent } = fixture(options);
    await publisher.publish(
      TOPIC,
      types.map((type, index) => event(ELEVENTH, index + 1, type)),
    );
    return sent[0]?.[NOTICE];
  };

  it('names each type once, and who published', async () => {
    const types = ['user.created', 'user.updated', 'user.created'];
    expect(await noticeOf(types)).toBe(`${TOPIC} user.created user.updated @here`);
  });

  it('names the topic alone where the types are too many', async () => {
    const types = Array.from({ length: 100 }, (_, nth) => `user.changed_in_some_way_${nth}`);
    expect(await noticeOf(types)).toBe(TOPIC);
  });

  it('names the topic alone where a record has no type', async () => {
    const { publisher, sent } = fixture();
    const from = { topic: TOPIC, partition: 0, offset: '1' };
    await publisher.putAway(TOPIC, [{ key: 'k', from, faults: [], value: null }]);
    expect(sent[0]?.[NOTICE]).toBe(TOPIC);
  });

  it('is not sent where no other process listens', async () => {
    expect(await noticeOf(['user.created'], { isHeard: false })).toBeNull();
  });
});
