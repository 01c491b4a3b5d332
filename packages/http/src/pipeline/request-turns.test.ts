import { setImmediate as nextTurn } from 'node:timers/promises';
import { fakeClock, systemClock } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { RequestTurns } from './request-turns.ts';

const START = '2026-01-01T00:00:00Z';
const MANY = 200;
const BEGIN_MAX = 16;
const WORK_MS = 3;

/** Requests of `caller` that have to wait, in the order in which they begin. */
function waiting(turns: RequestTurns, begun: string[], work = () => {}) {
  return (caller: string, count = 1): Promise<unknown> =>
    Promise.all(
      Array.from({ length: count }, async () => {
        await turns.wait(caller);
        begun.push(caller);
        work();
      }),
    );
}

function compute(): void {
  const startMs = performance.now();
  while (performance.now() - startMs < WORK_MS);
}

describe('C1 the turns of requests', () => {
  it('C1 never make a tenant wait that is alone', () => {
    const turns = new RequestTurns(fakeClock(START));
    const waits = Array.from({ length: MANY }, () => turns.wait('noisy'));
    expect(waits.filter((wait) => wait !== undefined)).toEqual([]);
  });

  it('C1 let the request of another tenant begin before the many of a noisy one', async () => {
    const turns = new RequestTurns(fakeClock(START));
    expect(turns.wait('victim')).toBeUndefined();
    const begun: string[] = [];
    const add = waiting(turns, begun);
    const noisy = add('noisy', MANY);
    const victim = add('victim', 2);
    await victim;
    expect(begun.length).toBeLessThanOrEqual(2 * BEGIN_MAX + 2);
    await noisy;
    expect(begun.filter((caller) => caller === 'noisy')).toHaveLength(MANY);
  });

  it('C1 let fewer begin in a turn of the event loop the longer their work takes', async () => {
    const turns = new RequestTurns(systemClock);
    expect(turns.wait('victim')).toBeUndefined();
    const begun: string[] = [];
    const all = waiting(turns, begun, compute)('noisy', 3 * BEGIN_MAX);
    const perTurn: number[] = [];
    while (begun.length < 3 * BEGIN_MAX) {
      const before = begun.length;
      await nextTurn();
      perTurn.push(begun.length - before);
    }
    await all;
    expect(perTurn.slice(-5).every((count) => count <= 1)).toBe(true);
  });

  it('C1 end a second after the last request of another tenant', async () => {
    const clock = fakeClock(START);
    const turns = new RequestTurns(clock);
    expect(turns.wait('victim')).toBeUndefined();
    const shared = Array.from({ length: MANY }, () => turns.wait('noisy'));
    expect(shared.filter((wait) => wait !== undefined).length).toBeGreaterThan(0);
    await Promise.all(shared);
    await clock.advance(1_001);
    const alone = Array.from({ length: MANY }, () => turns.wait('noisy'));
    expect(alone.filter((wait) => wait !== undefined)).toEqual([]);
  });
});
