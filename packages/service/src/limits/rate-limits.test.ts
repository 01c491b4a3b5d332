import { deriveFrom } from '@cardea/crypto';
import { fakeClock, inProcessCache, secret } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { type RateLimit, rateLimits, TURN_WAIT_MAX_MS } from './rate-limits.ts';
import { WAITING_MAX } from './turn-queue.ts';

const SECRETS = {
  JWT_SECRET: secret('bb22'.repeat(16)),
  JWT_SECRET_PREVIOUS: undefined,
  ENCRYPTION_KEY: secret('aa11'.repeat(16)),
  ENCRYPTION_KEY_PREVIOUS: undefined,
};
const POINTS = 10;
const WINDOW_MS = 60_000;
const limitOn = (counts: RateLimit['counts']): RateLimit => ({
  ...{ name: `some_${counts}`, points: POINTS, windowMs: WINDOW_MS },
  ...{ per: 'other', counts },
});
const misses = limitOn('misses');
const calls = limitOn('calls');

/** Two replicas that share a cache. */
function replicas() {
  const clock = fakeClock('2026-01-01T00:00:00Z');
  const cache = inProcessCache(clock);
  const own = () => rateLimits({ cache, clock, derive: deriveFrom(SECRETS), factor: 1 });
  return { clock, here: own(), there: own() };
}

/** Work that a test completes. */
function work() {
  const open: (() => void)[] = [];
  const begun = () =>
    new Promise<void>((resolve) => {
      open.push(resolve);
    });
  const endAll = async (isDone: () => boolean) => {
    for (let round = 0; round < 1_000 && !isDone(); round += 1) {
      open.shift()?.();
      await new Promise(setImmediate);
    }
  };
  return { begun, endAll, running: () => open.length };
}

describe('a limit on misses', () => {
  it('P6 lets any number of right calls at once pass, and no more than the limit be tried at once', async () => {
    const { here } = replicas();
    const { begun, endAll, running } = work();
    let most = 0;
    const tried = Array.from({ length: 30 }, () =>
      here.attempt(
        [[misses, 'ann']],
        async () => begun(),
        () => true,
      ),
    );
    let done = 0;
    for (const each of tried) void each.then(() => (done += 1));
    await endAll(() => {
      most = Math.max(most, running());
      return done === tried.length;
    });
    expect((await Promise.all(tried)).filter(({ allowed }) => allowed)).toHaveLength(30);
    expect(most).toBe(POINTS);
  });

  it('P6 evaluates exactly so many wrong calls as its limit, though a hundred come at once to two replicas', async () => {
    const { clock, here, there } = replicas();
    let evaluated = 0;
    const wrong = async () => {
      evaluated += 1;
    };
    const tried = Promise.all(
      Array.from({ length: WAITING_MAX }, (_, at) =>
        (at % 2 === 0 ? here : there).attempt([[misses, 'ann']], wrong, () => false),
      ),
    );
    for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate);
    await clock.advance(TURN_WAIT_MAX_MS);
    const all = await tried;
    expect(evaluated).toBe(POINTS);
    expect(all.filter(({ allowed }) => allowed)).toHaveLength(POINTS);
    expect(all.find(({ allowed }) => !allowed)).toMatchObject({ isUsedUp: true, limit: misses });
  });

  it('P6 does not count what it refuses', async () => {
    const { clock, here } = replicas();
    const taken = await Promise.all(
      Array.from({ length: POINTS - 1 }, () => here.take([misses, 'ann'])),
    );
    for (const each of taken) if (each.allowed) await each.keep();
    const last = await here.take([misses, 'ann']);
    const waiting = here.take([misses, 'ann']);
    await new Promise(setImmediate);
    await clock.advance(TURN_WAIT_MAX_MS);
    expect(await waiting).toMatchObject({ allowed: false, isUsedUp: false });
    if (last.allowed) await last.giveBack();
    expect(await here.take([misses, 'ann'])).toMatchObject({ allowed: true });
  });

  it('P6 hears within a moment of a turn that another replica gave back', async () => {
    const { clock, here, there } = replicas();
    const held = await Promise.all(
      Array.from({ length: POINTS }, () => there.take([misses, 'ann'])),
    );
    const waiting = here.take([misses, 'ann']);
    await new Promise(setImmediate);
    if (held[0]?.allowed) await held[0].giveBack();
    await clock.advance(200);
    expect(await waiting).toMatchObject({ allowed: true });
  });

  it('is free again after its window', async () => {
    const { clock, here } = replicas();
    const miss = () =>
      here.attempt(
        [[misses, 'ann']],
        async () => 'wrong',
        () => false,
      );
    for (let at = 0; at < POINTS; at += 1) await miss();
    expect(await miss()).toMatchObject({ allowed: false, isUsedUp: true, retryAfterSeconds: 60 });
    await clock.advance(WINDOW_MS);
    expect(await miss()).toMatchObject({ allowed: true });
  });

  it('gives back what was not tried', async () => {
    const { here } = replicas();
    const broken = () =>
      here.attempt(
        [[misses, 'ann']],
        () => Promise.reject(new Error('away')),
        () => true,
      );
    for (let at = 0; at <= POINTS; at += 1) await expect(broken()).rejects.toThrow('away');
  });
});

describe('a limit on calls', () => {
  it('P6 refuses at once what is beyond it, and does not count that', async () => {
    const { clock, here } = replicas();
    const all = await Promise.all(Array.from({ length: 30 }, () => here.take([calls, 'ann'])));
    expect(all.filter(({ allowed }) => allowed)).toHaveLength(POINTS);
    await clock.advance(WINDOW_MS);
    expect(await here.take([calls, 'ann'])).toMatchObject({ allowed: true });
  });

  it('P6 charges nothing where another limit refuses', async () => {
    const { here } = replicas();
    for (let at = 0; at < POINTS; at += 1) await here.take([calls, 'full']);
    for (let at = 0; at < 30; at += 1) {
      const taken = await here.take([calls, 'ann'], [calls, 'full']);
      expect(taken).toMatchObject({ allowed: false });
    }
    const rest = await Promise.all(Array.from({ length: POINTS }, () => here.take([calls, 'ann'])));
    expect(rest.every(({ allowed }) => allowed)).toBe(true);
  });

  it('C3 counts by size where a charge has one', async () => {
    const { here } = replicas();
    expect(await here.take([calls, 'ann', POINTS])).toMatchObject({ allowed: true });
    expect(await here.take([calls, 'ann', 1])).toMatchObject({ allowed: false });
    expect(await here.take([calls, 'bob', POINTS + 1])).toMatchObject({ allowed: false });
  });
});
