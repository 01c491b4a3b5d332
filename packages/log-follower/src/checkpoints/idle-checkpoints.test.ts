import { fakeClock } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import type { Checkpoint } from './checkpoint.ts';
import { idleCheckpoints } from './idle-checkpoints.ts';

const DELAY_MS = 25;

function world() {
  const clock = fakeClock('2031-01-01T00:00:00Z');
  const stored: string[] = [];
  const idle = idleCheckpoints({
    clock,
    delayMs: () => DELAY_MS,
    store: async (moves) => {
      stored.push(`${clock.monotonicMs()}: ${[...moves.keys()].join()}`);
      return new Set(moves.keys());
    },
  });
  const pass = (name: string): Checkpoint => {
    const checkpoint: Checkpoint = { position: 1n, epoch: 0n, parked: new Map() };
    idle.pass(name, { checkpoint, to: 2n, onLost: () => {} });
    return checkpoint;
  };
  return { clock, idle, stored, pass };
}

describe('checkpoints over events without effect', () => {
  it('are stored together after a while', async () => {
    const { clock, stored, pass } = world();
    const checkpoint = pass('users');
    pass('agents');
    await clock.advance(DELAY_MS - 1);
    expect([stored, checkpoint.position]).toEqual([[], 1n]);
    await clock.advance(1);
    expect([stored, checkpoint.position]).toEqual([['25: users,agents'], 2n]);
  });

  it('join a transaction after a rest, and wait when others were stored a moment ago', async () => {
    const { clock, idle, stored, pass } = world();
    pass('users');
    idle.join();
    await clock.advance(10);
    pass('agents');
    idle.join();
    await clock.advance(14);
    expect(stored).toEqual(['0: users']);
    await clock.advance(1);
    pass('users');
    idle.join();
    await clock.advance(DELAY_MS);
    expect(stored).toEqual(['0: users', '25: agents,users']);
  });
});
