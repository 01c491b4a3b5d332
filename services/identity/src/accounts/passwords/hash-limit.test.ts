import { fakeClock } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { HASH_QUEUE_MAX, HASH_WAIT_MAX_MS, hashLimit } from './hash-limit.ts';

const held = () => {
  let release = (): void => {};
  const job = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { job: () => job, release: () => release() };
};
const settled = async () => {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
};

describe('the gate before password hashes', () => {
  it('lets so many in at once, the others in the order in which they came', async () => {
    const gate = hashLimit(1, fakeClock('2026-01-01T00:00:00Z'));
    const first = held();
    const order: string[] = [];
    const running = [
      gate.pass(first.job),
      gate.pass(async () => void order.push('second')),
      gate.pass(async () => void order.push('third')),
    ];
    await settled();
    expect(order).toEqual([]);
    first.release();
    await Promise.all(running);
    expect(order).toEqual(['second', 'third']);
  });

  it('S10 turns away what does not fit into the line, at once', async () => {
    const gate = hashLimit(1, fakeClock('2026-01-01T00:00:00Z'));
    const first = held();
    void gate.pass(first.job);
    const waiting = Array.from({ length: HASH_QUEUE_MAX }, () => gate.pass(async () => 'done'));
    await expect(gate.pass(async () => 'never')).rejects.toMatchObject({ name: 'Overloaded' });
    first.release();
    expect(await Promise.all(waiting)).toHaveLength(HASH_QUEUE_MAX);
  });

  it('S10 turns away what has waited too long, and gives its place to nobody twice', async () => {
    const clock = fakeClock('2026-01-01T00:00:00Z');
    const gate = hashLimit(1, clock);
    const first = held();
    void gate.pass(first.job);
    const late = gate.pass(async () => 'never');
    const refused = expect(late).rejects.toMatchObject({ name: 'Overloaded' });
    await settled();
    await clock.advance(HASH_WAIT_MAX_MS);
    await refused;
    expect(gate.waiting()).toBe(0);
    first.release();
    expect(await gate.pass(async () => 'next')).toBe('next');
  });

  it('frees the place of a job that failed', async () => {
    const gate = hashLimit(1, fakeClock('2026-01-01T00:00:00Z'));
    await expect(gate.pass(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(await gate.pass(async () => 'next')).toBe('next');
  });
});
