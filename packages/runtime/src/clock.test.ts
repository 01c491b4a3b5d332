import { describe, expect, it } from 'vitest';
import { fakeClock, systemClock } from './clock.ts';

describe('a clock that a test moves', () => {
  it('wakes each sleeper at its own time, and those who sleep again', async () => {
    const clock = fakeClock('2026-01-01T00:00:00Z');
    const seen: number[] = [];
    const turning = (async () => {
      for (let turn = 0; turn < 3; turn += 1) {
        await clock.sleep(100);
        seen.push(clock.monotonicMs());
      }
    })();
    await clock.advance(250);
    expect(seen).toEqual([100, 200]);
    await clock.advance(50);
    await turning;
    expect(clock.now().toISOString()).toBe('2026-01-01T00:00:00.300Z');
  });

  it('R13 keeps durations when the wall clock goes back', async () => {
    const clock = fakeClock('2026-01-01T01:00:00Z');
    let woken = false;
    void clock.sleep(1000).then(() => {
      woken = true;
    });
    clock.setWall('2026-01-01T00:00:00Z');
    await clock.advance(999);
    expect(woken).toBe(false);
    await clock.advance(1);
    expect(woken).toBe(true);
  });

  it.each([
    ['of the machine', systemClock],
    ['of a test', fakeClock(new Date(0))],
  ])('%s ends a sleep at once when its signal aborts', async (_, clock) => {
    const stop = new AbortController();
    const sleeping = clock.sleep(1_000_000, stop.signal);
    stop.abort();
    await sleeping;
    await clock.sleep(1_000_000, stop.signal);
  });
});
