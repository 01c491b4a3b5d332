import { inProcessCache, systemClock } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { artifactCache } from './artifact-cache.ts';

const key = (fill: number) => Buffer.alloc(32, fill);

describe('what the authorization server holds for a while', () => {
  it('oauth 21 stands in the cache under no id and in no clear text', async () => {
    const cache = inProcessCache(systemClock);
    const written: string[] = [];
    const seen = {
      ...cache,
      set: async (name: string, value: string, ttlMs?: number) => {
        written.push(name, value);
        await cache.set(name, value, ttlMs);
      },
    };
    const artifacts = artifactCache(seen, { current: key(1), previous: undefined });
    await artifacts.put('AuthorizationCode', 'the-code', { verifier: 'the-secret' }, 60);
    expect(written.join()).not.toContain('the-code');
    expect(written.join()).not.toContain('the-secret');
    const found = await artifacts.find('AuthorizationCode', 'the-code');
    expect(found).toEqual({ value: { verifier: 'the-secret' }, used: false });
    expect(await artifacts.find('Session', 'the-code')).toBeUndefined();
  });

  it('oauth 3 is used up by one of all who try', async () => {
    const cache = inProcessCache(systemClock);
    const artifacts = artifactCache(cache, { current: key(1), previous: undefined });
    await artifacts.put('AuthorizationCode', 'code', {}, 60);
    const tries = [1, 2, 3].map(() => artifacts.use('AuthorizationCode', 'code', 60));
    expect((await Promise.all(tries)).filter(Boolean)).toHaveLength(1);
    expect((await artifacts.find('AuthorizationCode', 'code'))?.used).toBe(true);
  });

  it('outlives a change of the secret, and opens under no other one', async () => {
    const cache = inProcessCache(systemClock);
    await artifactCache(cache, { current: key(1), previous: undefined }).put(
      'Session',
      'a',
      {},
      60,
    );
    const later = artifactCache(cache, { current: key(2), previous: key(1) });
    expect(await later.find('Session', 'a')).toBeDefined();
    const other = artifactCache(cache, { current: key(3), previous: key(2) });
    expect(await other.find('Session', 'a')).toBeUndefined();
  });
});
