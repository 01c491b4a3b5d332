import { describe, expect, it } from 'vitest';
import { fakeClock } from '../clock.ts';
import { wakeSignal } from './wake-signal.ts';

const POLL_MS = 1_000;

function fixture() {
  const clock = fakeClock('2026-01-01T00:00:00Z');
  const stop = new AbortController();
  const { wake, rest } = wakeSignal(clock);
  return { clock, stop, wake, rest: () => rest(POLL_MS, stop.signal) };
}

describe('a wake signal', () => {
  it('ends a rest at once', async () => {
    const { clock, wake, rest } = fixture();
    const resting = rest();
    expect(clock.sleepers).toBe(1);
    wake();
    await resting;
    expect(clock.sleepers).toBe(0);
  });

  it('is not lost between two rests, and ends one of them only', async () => {
    const { clock, wake, rest } = fixture();
    wake();
    wake();
    await rest();
    expect(clock.monotonicMs()).toBe(0);
    const second = rest();
    expect(clock.sleepers).toBe(1);
    await clock.advance(POLL_MS);
    await second;
  });

  it('lets a rest end by itself when its time is over', async () => {
    const { clock, rest } = fixture();
    let isOver = false;
    const resting = rest().then(() => {
      isOver = true;
    });
    await clock.advance(POLL_MS - 1);
    expect(isOver).toBe(false);
    await clock.advance(1);
    await resting;
  });

  it('lets whoever stops end the rest, and begin none any more', async () => {
    const { clock, stop, rest } = fixture();
    const resting = rest();
    stop.abort();
    await resting;
    await rest();
    expect(clock.sleepers).toBe(0);
  });
});
