import { loops, systemClock } from '@cardea/runtime';
import { silentLogger, untilTrue } from '@cardea/testing';
import { expect, it } from 'vitest';
import { runLoop } from './loop-runner.ts';

const FAILURES = 3;
const clock = {
  ...systemClock,
  sleep: () => new Promise<void>((resolve) => setImmediate(resolve)),
};

it('a loop that failed is well again once it has been round, though it never ends', async () => {
  const watched = loops(clock);
  const reasons: (string | undefined)[] = [];
  const run = async (signal: AbortSignal, tick: () => void): Promise<void> => {
    while (!signal.aborted) {
      tick();
      reasons.push(watched.state()[0]?.degraded);
      if (reasons.length <= FAILURES) throw new Error('once more');
      await clock.sleep();
    }
  };
  const needs = { loops: watched, clock, log: silentLogger, locks: undefined as never };
  const running = runLoop({ name: 'one', run }, needs);
  await untilTrue(() => reasons.length > FAILURES + 2);
  await running.stop();
  expect(reasons.slice(0, FAILURES + 2)).toEqual([
    undefined,
    ...Array.from({ length: FAILURES }, () => 'failing'),
    undefined,
  ]);
});

it('a loop that fails in each round is started ever less often, however often it ticks', async () => {
  const pauses: number[] = [];
  const slept = {
    ...clock,
    sleep: (ms: number) => {
      pauses.push(ms);
      return clock.sleep();
    },
  };
  const run = async (_signal: AbortSignal, tick: () => void): Promise<void> => {
    for (let ticks = 0; ticks < 5; ticks += 1) tick();
    throw new Error('in each round');
  };
  const needs = { loops: loops(slept), clock: slept, log: silentLogger, locks: undefined as never };
  const running = runLoop({ name: 'one', run }, needs);
  await untilTrue(() => pauses.length > 7);
  await running.stop();
  expect(pauses.slice(0, 8)).toEqual([250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
});
