import { describe, expect, it } from 'vitest';
import {
  REFUSAL_WAIT_MS,
  REFUSALS_PER_MINUTE,
  type Refused,
  refusalsPerMinute,
} from './refusals-per-minute.ts';

const MINUTE_MS = 60_000;
const quiet = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet };

function recorder(write: (refusal: string, count: number) => Promise<void>) {
  const time = { ms: 0, slept: [] as number[] };
  const clock = {
    now: () => new Date(time.ms),
    monotonicMs: () => time.ms,
    sleep: async (ms: number) => void time.slept.push(ms),
    after: () => () => {},
  };
  return { refusals: refusalsPerMinute({ write, clock, log: quiet }), time };
}
const refused = (more: Partial<Refused<string>> = {}): Refused<string> => ({
  refusal: 'list_users',
  caller: 't1 user u1',
  kind: 'list_users forbidden',
  ...more,
});

describe('the refusals of a minute', () => {
  it('are waited for a quarter of a second, and recorded after the answer', async () => {
    let land = () => {};
    const landed: string[] = [];
    const { refusals, time } = recorder(
      (one) =>
        new Promise((resolve) => {
          land = () => {
            landed.push(one);
            resolve();
          };
        }),
    );
    await refusals.record(refused());
    expect(time.slept).toEqual([REFUSAL_WAIT_MS]);
    expect(landed).toHaveLength(0);
    land();
    expect(landed).toHaveLength(1);
  });
  it('never fail the answer', async () => {
    const { refusals } = recorder(() => Promise.reject(new Error('away')));
    await expect(refusals.record(refused())).resolves.toBeUndefined();
  });
  it('are counted with their like above 60, and lose none of the count', async () => {
    const got: { refusal: string; count: number }[] = [];
    const { refusals, time } = recorder(
      async (refusal, count) => void got.push({ refusal, count }),
    );
    for (let n = 0; n < REFUSALS_PER_MINUTE + 40; n += 1) {
      const kind = n % 4 === 0 ? 'forbidden' : 'insufficient_scope';
      await refusals.record(refused({ refusal: kind, kind }));
    }
    await refusals.record(refused({ caller: 't1 user u2' }));
    expect(got).toHaveLength(REFUSALS_PER_MINUTE + 1);
    await refusals.flush();
    expect(got).toHaveLength(REFUSALS_PER_MINUTE + 1);
    time.ms += MINUTE_MS;
    await refusals.flush();
    expect(got.slice(REFUSALS_PER_MINUTE + 1)).toEqual([
      { refusal: 'forbidden', count: 10 },
      { refusal: 'insufficient_scope', count: 30 },
    ]);
    await refusals.record(refused());
    expect(got.at(-1)?.count).toBe(1);
  });
  it('that are still counted are recorded when the process stops', async () => {
    const counts: number[] = [];
    const { refusals } = recorder(async (_refusal, count) => void counts.push(count));
    for (let n = 0; n < REFUSALS_PER_MINUTE + 5; n += 1) await refusals.record(refused());
    await refusals.flush(true);
    expect(counts.at(-1)).toBe(5);
  });
  it('of the oldest caller are recorded when there are too many callers to remember', async () => {
    const got: { refusal: string; count: number }[] = [];
    const { refusals } = recorder(async (refusal, count) => void got.push({ refusal, count }));
    for (let n = 0; n < REFUSALS_PER_MINUTE + 5; n += 1) {
      await refusals.record(refused({ refusal: 'first', caller: 'first' }));
    }
    for (let n = 0; n < 10_000; n += 1) await refusals.record(refused({ caller: `caller ${n}` }));
    expect(got.filter(({ count }) => count > 1)).toEqual([{ refusal: 'first', count: 5 }]);
  });
});
