import { describe, expect, it } from 'vitest';
import { fakeClock } from '../clock.ts';
import { pacing } from './pacing.ts';

describe('pacing', () => {
  it('lets a batch begin at once after a rest, and the next one 30 ms after it began', async () => {
    const clock = fakeClock('2031-01-01T00:00:00Z');
    const pace = pacing(clock);
    const began: number[] = [];
    const loop = (async () => {
      for (let batch = 1; batch <= 3; batch += 1) {
        await pace.next();
        began.push(clock.monotonicMs());
        await clock.sleep(4); // Simulates the time of a batch.
      }
    })();
    await clock.advance(0); // The loop is asleep now.
    await clock.advance(200);
    await loop;
    await pace.next();
    began.push(clock.monotonicMs());
    expect(began).toEqual([0, 30, 60, 200]);
  });

  it('does not hold back a batch that follows a long one', async () => {
    const clock = fakeClock('2031-01-01T00:00:00Z');
    const pace = pacing(clock);
    await pace.next();
    await clock.advance(35);
    await pace.next();
    expect(clock.sleepers).toBe(0);
  });

  it('ends its wait at the stop', async () => {
    const clock = fakeClock('2031-01-01T00:00:00Z');
    const pace = pacing(clock);
    const stop = new AbortController();
    await pace.next(stop.signal);
    const waiting = pace.next(stop.signal);
    stop.abort();
    await waiting;
    expect(clock.monotonicMs()).toBe(0);
  });
});
