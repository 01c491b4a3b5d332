import { describe, expect, it } from 'vitest';
import { written } from './append-batch.ts';
import { appendQueue, type Waiting } from './group-commit.ts';

const CONNECTIONS = 2;
const SECOND_BATCH_APPENDS = 16;

const waiting = (streamId: string): Waiting => ({
  append: written({
    streamId,
    expected: 0,
    events: [
      {
        id: crypto.randomUUID(),
        type: 'Made',
        schemaVersion: 1,
        time: new Date(0),
        data: {},
        metadata: { tenantId: 'acme', actor: { type: 'system', id: 'test' } },
      },
    ],
  }),
  resolve: () => {},
  reject: () => {},
});

function queueOf(...streams: readonly string[]) {
  const queue = appendQueue();
  const push = (...more: readonly string[]): void => {
    for (const stream of more) queue.push(waiting(stream));
  };
  push(...streams);
  return { ...queue, push };
}

const streamsOf = (batch: readonly Waiting[]): readonly string[] =>
  batch.map(({ append }) => append.streamId);

const numbered = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `thing-${index}`);

describe('appends that wait', () => {
  it('share the next batch while one is on its way and they are few', () => {
    const queue = queueOf('a');
    const first = queue.takeBatch(CONNECTIONS);
    expect(streamsOf(first)).toEqual(['a']);
    queue.push(...numbered(SECOND_BATCH_APPENDS - 1));
    expect(queue.takeBatch(1)).toEqual([]);
    queue.done(first);
    expect(queue.takeBatch(CONNECTIONS)).toHaveLength(SECOND_BATCH_APPENDS - 1);
  });

  it('go in a second batch beside the first where they are many', () => {
    const queue = queueOf('a');
    queue.takeBatch(CONNECTIONS);
    queue.push(...numbered(SECOND_BATCH_APPENDS));
    expect(queue.takeBatch(1)).toHaveLength(SECOND_BATCH_APPENDS);
  });

  it('keep their order within a stream, whose next append waits for the one before', () => {
    const queue = queueOf('a', 'b', 'a');
    const first = queue.takeBatch(CONNECTIONS);
    expect(streamsOf(first)).toEqual(['a', 'b']);
    queue.push(...numbered(SECOND_BATCH_APPENDS));
    const second = queue.takeBatch(1);
    expect(streamsOf(second)).toEqual(numbered(SECOND_BATCH_APPENDS));
    queue.done(first);
    queue.done(second);
    expect(streamsOf(queue.takeBatch(CONNECTIONS))).toEqual(['a']);
  });
});
