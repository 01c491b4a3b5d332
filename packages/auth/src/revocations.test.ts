import { CacheUnavailable, fakeClock, inProcessCache } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { revocations } from './revocations.ts';

const HOUR_MS = 3_600_000;
async function rig() {
  const clock = fakeClock('2026-01-01T00:00:00Z');
  const cache = inProcessCache(clock);
  const of = () => revocations({ cache, clock, ttlMs: HOUR_MS });
  const [here, there] = [of(), of()];
  await here.start();
  await there.start();
  return { clock, cache, here, there, of };
}

describe('a revocation', () => {
  it('is known in every process once the revoking call has answered', async () => {
    const { here, there } = await rig();
    await here.mark('agent', ['a1', 'a2']);
    for (const each of [here, there]) {
      expect(each.isMarked('agent', 'a2')).toBe(true);
      expect(each.isMarked('user', 'a2')).toBe(false);
    }
    expect(
      await there.areMarked([
        { kind: 'agent', id: 'a1' },
        { kind: 'key', id: 'a1' },
      ]),
    ).toEqual([true, false]);
    await there.unmark('agent', ['a1']);
    expect([here.isMarked('agent', 'a1'), there.isMarked('agent', 'a1')]).toEqual([false, false]);
    expect(await here.areMarked([{ kind: 'agent', id: 'a1' }])).toEqual([false]);
  });

  it('of many at once reaches all', async () => {
    const { here, there } = await rig();
    const ids = Array.from({ length: 1200 }, (_, n) => `s${n}`);
    await here.mark('sid', ids);
    expect(ids.every((id) => there.isMarked('sid', id))).toBe(true);
  });

  it('is forgotten once nothing is left that it could revoke', async () => {
    const { clock, here, there } = await rig();
    await here.mark('user', ['u1']);
    await clock.advance(HOUR_MS);
    expect([here.isMarked('user', 'u1'), there.isMarked('user', 'u1')]).toEqual([false, false]);
    expect(await here.areMarked([{ kind: 'user', id: 'u1' }])).toEqual([false]);
  });

  it('counts in the revoking process though the cache is away', async () => {
    const { cache, here } = await rig();
    await cache.close();
    await expect(here.mark('key', ['k1'])).rejects.toThrow(CacheUnavailable);
    expect(here.isMarked('key', 'k1')).toBe(true);
  });

  it('is written again when the cache has lost its marks', async () => {
    const { cache, clock, here, there, of } = await rig();
    await here.keepFilled(async () => [{ kind: 'agent', id: 'a1' }]);
    expect(there.isMarked('agent', 'a1')).toBe(true);
    await cache.delete('rev:generation');
    await cache.delete('rev:agent:a1');
    const late = of();
    await late.start();
    const stop = new AbortController();
    let turns = 0;
    const running = here.run(
      stop.signal,
      () => (turns += 1),
      () => {},
    );
    await clock.advance(1000);
    expect(await late.areMarked([{ kind: 'agent', id: 'a1' }])).toEqual([true]);
    expect(late.isMarked('agent', 'a1')).toBe(true);
    expect(turns).toBeGreaterThan(0);
    stop.abort();
    await running;
  });

  it('is known to a process that started after it', async () => {
    const { clock, here, of } = await rig();
    await here.keepFilled(async () => [{ kind: 'user', id: 'u1' }]);
    const late = of();
    await late.start();
    await clock.advance(0);
    expect(late.isMarked('user', 'u1')).toBe(true);
  });

  it('is not made up from notices of others', async () => {
    const { cache, here } = await rig();
    for (const text of ['', '{', '[]', '["+"]', '["+","tenant","x"]', '["+","user",7]', 'null']) {
      await cache.publish('rev', text);
    }
    expect(here.isMarked('user', '7')).toBe(false);
  });
});
