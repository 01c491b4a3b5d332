import { setImmediate as nextTurn } from 'node:timers/promises';
import { fakeClock, systemClock } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { RequestTurns } from './request-turns.ts';

const START = '2026-01-01T00:00:00Z';
const MANY = 200;
const BEGIN_MAX = 16;
const UNDER_WAY = { min: 1, max: 64 };
const UNDER_WAY_MS_MAX = 100;
const WORK_MS = 3;

/** Requests of `caller`, in the order in which they begin. Each ends at once. */
function requests(turns: RequestTurns, begun: string[], work = () => {}) {
  return (caller: string, count = 1): Promise<unknown> =>
    Promise.all(
      Array.from({ length: count }, async () => {
        const request = await turns.begin(caller);
        begun.push(caller);
        work();
        if (request !== undefined) turns.end(request);
      }),
    );
}

/** Requests of `caller` that never end. Returns those that have begun. */
function endless(turns: RequestTurns, caller: string, count: number) {
  const begun: object[] = [];
  for (let at = 0; at < count; at++) {
    void Promise.resolve(turns.begin(caller)).then((request) => begun.push(request as object));
  }
  return begun;
}

function compute(): void {
  const startMs = performance.now();
  while (performance.now() - startMs < WORK_MS);
}

async function turnsOfLoop(count: number, work = () => {}): Promise<void> {
  for (let at = 0; at < count; at++) {
    await nextTurn();
    work();
  }
}

describe('C1 the turns of requests', () => {
  it('C1 never make a tenant wait that is alone', () => {
    const turns = new RequestTurns(fakeClock(START));
    const begun = Array.from({ length: MANY }, () => turns.begin('noisy'));
    expect(begun.filter((each) => each !== undefined)).toEqual([]);
  });

  it('C1 let the request of another tenant begin before the many of a noisy one', async () => {
    const turns = new RequestTurns(fakeClock(START));
    expect(turns.begin('victim')).toBeUndefined();
    const begun: string[] = [];
    const add = requests(turns, begun);
    const noisy = add('noisy', MANY);
    const victim = add('victim', 2);
    await victim;
    expect(begun.length).toBeLessThanOrEqual(2 * BEGIN_MAX + 2);
    await noisy;
    expect(begun.filter((caller) => caller === 'noisy')).toHaveLength(MANY);
  });

  it('C1 let fewer begin in a turn of the event loop the longer their work takes', async () => {
    const turns = new RequestTurns(systemClock);
    expect(turns.begin('victim')).toBeUndefined();
    const begun: string[] = [];
    const all = requests(turns, begun, compute)('noisy', 3 * BEGIN_MAX);
    const perTurn: number[] = [];
    while (begun.length < 3 * BEGIN_MAX) {
      const before = begun.length;
      await nextTurn();
      perTurn.push(begun.length - before);
    }
    await all;
    expect(perTurn.slice(-5).every((count) => count <= 1)).toBe(true);
  });

  it('C1 let a noisy tenant have fewer under way the longer the turns take, and no other tenant wait', async () => {
    const turns = new RequestTurns(systemClock);
    expect(turns.begin('victim')).toBeUndefined();
    const long = requests(turns, [], compute)('noisy', 2 * BEGIN_MAX);
    await long;
    const begun = endless(turns, 'noisy', MANY);
    await turnsOfLoop(3, compute);
    expect(begun.length).toBeLessThanOrEqual(3 * UNDER_WAY.min);
    expect(await turns.begin('victim')).toEqual({ caller: 'victim', sinceMs: expect.any(Number) });
  });

  it('C1 count no request that has been under way for long', async () => {
    const clock = fakeClock(START);
    const turns = new RequestTurns(clock);
    expect(turns.begin('victim')).toBeUndefined();
    const begun = endless(turns, 'noisy', MANY);
    await turnsOfLoop(MANY);
    expect(begun).toHaveLength(UNDER_WAY.max);
    await clock.advance(UNDER_WAY_MS_MAX);
    await turnsOfLoop(MANY);
    expect(begun).toHaveLength(2 * UNDER_WAY.max);
  });

  it('C1 let the next begin when one ends', async () => {
    const turns = new RequestTurns(fakeClock(START));
    expect(turns.begin('victim')).toBeUndefined();
    const begun = endless(turns, 'noisy', MANY);
    await turnsOfLoop(MANY);
    turns.end(begun[0] as Parameters<RequestTurns['end']>[0]);
    await turnsOfLoop(3);
    expect(begun).toHaveLength(UNDER_WAY.max + 1);
  });

  it('C1 end a second after the last request of another tenant', async () => {
    const clock = fakeClock(START);
    const turns = new RequestTurns(clock);
    expect(turns.begin('victim')).toBeUndefined();
    await requests(turns, [])('noisy', MANY);
    await clock.advance(1_001);
    const alone = Array.from({ length: MANY }, () => turns.begin('noisy'));
    expect(alone.filter((each) => each !== undefined)).toEqual([]);
  });
});
