import { Histogram, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { SeriesHistogram } from './series-histogram.ts';

const buckets = [0.01, 0.1, 1];
const observations = [
  ['POST', '/a', 200, 0.005],
  ['POST', '/a', 200, 0.01],
  ['POST', '/a', 503, 7],
  ['GET', '/a', 200, 0.5],
  ['GET', '/b "c"', 200, 0.02],
] as const;

describe('a histogram whose series are looked up without a text', () => {
  it("prints what the library's own prints", async () => {
    const of = { name: 'd', help: 'What it took.', labelNames: ['method', 'route', 'status'] };
    const [ours, theirs] = [new Registry(), new Registry()];
    const fast = new SeriesHistogram({ ...of, buckets });
    ours.registerMetric(fast as never);
    const slow = new Histogram({ ...of, buckets, registers: [theirs] });
    for (const [method, route, status, seconds] of observations) {
      fast.observe(seconds, method, route, status);
      slow.observe({ method, route, status }, seconds);
    }
    expect(await ours.metrics()).toBe(await theirs.metrics());
  });

  it('needs no labels', async () => {
    const fast = new SeriesHistogram({ name: 'd', help: 'x', labelNames: [], buckets });
    fast.observe(0.05);
    fast.observe(0.5);
    const { values } = await fast.get();
    expect(values.map(({ value }) => value)).toEqual([0, 1, 2, 2, 0.55, 2]);
  });
});
