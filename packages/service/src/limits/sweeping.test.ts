import { fakeClock } from '@cardea/runtime';
import { expect, it } from 'vitest';
import { sweeping } from './sweeping.ts';

const HOUR_MS = 3_600_000;
/** After this time readiness reports that a loop has stopped. */
const SILENT_MS_MAX = 15_000;
const settled = () => new Promise((resolve) => setImmediate(resolve));

it.each([1_000, 12_000, HOUR_MS])(
  'a sweep every %i ms is made as often, and never stands still between',
  async (everyMs) => {
    const clock = fakeClock('2026-01-01T00:00:00Z');
    const [ticks, sweeps]: [number[], number[]] = [[], []];
    const stopped = new AbortController();
    const { run } = sweeping({
      ...{ name: 'one', everyMs, clock },
      sweep: async () => {
        sweeps.push(clock.monotonicMs());
      },
    });
    const running = run(
      stopped.signal,
      () => {
        ticks.push(clock.monotonicMs());
      },
      () => {},
    );
    await settled();
    await clock.advance(3 * everyMs);
    stopped.abort();
    await running;
    const silences = ticks.slice(1).map((at, nth) => at - (ticks[nth] ?? 0));
    expect(Math.max(...silences)).toBeLessThan(SILENT_MS_MAX);
    expect(sweeps).toEqual([0, 1, 2, 3].map((nth) => nth * everyMs));
  },
);
