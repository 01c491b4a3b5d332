import { CacheUnavailable, fakeClock, inProcessCache } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { EXPORT_MS_MAX, exportLimit } from './export-limit.ts';

const family = 'audit-export';
const away = async (): Promise<never> => {
  throw new CacheUnavailable('away');
};

describe('exports of a tenant', () => {
  it('are two at once, over all replicas', async () => {
    const cache = inProcessCache(fakeClock('2026-01-01T00:00:00Z'));
    const [here, there] = [exportLimit({ cache, family }), exportLimit({ cache, family })];
    const release = await here.take('a');
    expect(await there.take('a')).toBeTypeOf('function');
    expect(await here.take('a')).toBeUndefined();
    expect(await there.take('a')).toBeUndefined();
    expect(await there.take('b')).toBeTypeOf('function');
    await release?.();
    expect(await there.take('a')).toBeTypeOf('function');
  });

  it('are two at once in each process while the cache is away', async () => {
    const slots = exportLimit({ cache: { setIfAbsent: away, delete: away }, family });
    const release = await slots.take('a');
    expect(await slots.take('a')).toBeTypeOf('function');
    expect(await slots.take('a')).toBeUndefined();
    await release?.();
    expect(await slots.take('a')).toBeTypeOf('function');
  });

  it('are not blocked for good by a process that was killed', async () => {
    const clock = fakeClock('2026-01-01T00:00:00Z');
    const cache = inProcessCache(clock);
    const killed = exportLimit({ cache, family });
    await killed.take('a');
    await killed.take('a');
    const other = exportLimit({ cache, family });
    await clock.advance(EXPORT_MS_MAX);
    expect(await other.take('a')).toBeUndefined();
    await clock.advance(60_000);
    expect(await other.take('a')).toBeTypeOf('function');
  });
});
