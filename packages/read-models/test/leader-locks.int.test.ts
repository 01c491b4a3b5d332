/** Which process leads, and how soon another takes over from one that stops. */
import { leaderLocks } from '@cardea/read-models';
import { type Clock, systemClock } from '@cardea/runtime';
import { silentLogger, testDatabase } from '@cardea/testing';
import { expect, it, onTestFinished } from 'vitest';

const TEST_MS_MAX = 60_000;
const test = testDatabase();

/** Pauses end when they are cut short, and in no other way. */
const withoutPolling: Clock = {
  ...systemClock,
  sleep: (_ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) resolve();
      else signal?.addEventListener('abort', () => resolve(), { once: true });
    }),
};

it('whoever waits for a lock that another process gives back hears of it, and does not poll', {
  timeout: TEST_MS_MAX,
}, async () => {
  const session = () => {
    const locks = leaderLocks({
      connectionString: test.url,
      clock: withoutPolling,
      log: silentLogger,
    });
    onTestFinished(() => locks.close());
    return locks;
  };
  const [leaving, waiting] = [session(), session()];
  const stop = new AbortController();
  const lease = await leaving.hold('things', stop.signal);
  // Its first try is over when it holds something that nobody else wants.
  const next = waiting.hold('things', stop.signal);
  await (await waiting.hold('others', stop.signal))?.release();

  await lease?.release();

  expect(await next).toBeDefined();
});
