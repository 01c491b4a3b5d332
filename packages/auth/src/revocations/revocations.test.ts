import { CacheUnavailable, fakeClock, inProcessCache } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import type { Revocation, RevocationKind } from '../principal.ts';
import { type MirroredRevocations, revocations } from './revocations.ts';

const HOUR_MS = 3_600_000;
async function fixture() {
  const clock = fakeClock('2026-01-01T00:00:00Z');
  const cache = inProcessCache(clock);
  const ended = async (list: readonly Revocation[]) => list.map(({ id }) => id === 'ended');
  const of = () => revocations({ cache, clock, ttlMs: HOUR_MS, ended });
  const [here, there] = [of(), of()];
  await here.start();
  await there.start();
  return { clock, cache, here, there, of };
}

const live = async (of: MirroredRevocations, kind: RevocationKind, id: string) =>
  (await of.look([{ kind, id }])).revoked[0];

describe('a revocation', () => {
  it('is known in every process once the revoking call has answered', async () => {
    const { here, there } = await fixture();
    await here.add('agent', ['a1', 'a2']);
    for (const each of [here, there]) {
      expect(each.isRevoked('agent', 'a2')).toBe(true);
      expect(each.isRevoked('user', 'a2')).toBe(false);
    }
    const looked = await there.look([
      { kind: 'agent', id: 'a1' },
      { kind: 'key', id: 'a1' },
    ]);
    expect(looked).toEqual({ revoked: [true, false], values: [] });
    await there.remove('agent', ['a1']);
    expect([here.isRevoked('agent', 'a1'), there.isRevoked('agent', 'a1')]).toEqual([false, false]);
    expect(await live(here, 'agent', 'a1')).toBe(false);
  });

  it('of many at once reaches all', async () => {
    const { here, there } = await fixture();
    const ids = Array.from({ length: 1200 }, (_, n) => `s${n}`);
    await here.add('sid', ids);
    expect(ids.every((id) => there.isRevoked('sid', id))).toBe(true);
  });

  it('is forgotten once nothing is left that it could revoke', async () => {
    const { clock, here, there } = await fixture();
    await here.add('user', ['u1']);
    await clock.advance(HOUR_MS);
    expect([here.isRevoked('user', 'u1'), there.isRevoked('user', 'u1')]).toEqual([false, false]);
    expect(await live(here, 'user', 'u1')).toBe(false);
  });

  it('counts in the revoking process though the cache is away', async () => {
    const { cache, here } = await fixture();
    await cache.close();
    await expect(here.add('key', ['k1'])).rejects.toThrow(CacheUnavailable);
    expect(here.isRevoked('key', 'k1')).toBe(true);
  });

  it('is looked up at identity while the cache is away, and beside it what else is asked', async () => {
    const { cache, here } = await fixture();
    await cache.set('word', 'x');
    const asked = [
      { kind: 'key', id: 'ended' },
      { kind: 'user', id: 'u1' },
    ] as const;
    expect(await here.look(asked, ['word', 'other'])).toEqual({
      revoked: [false, false],
      values: ['x', undefined],
    });
    await cache.close();
    expect(await here.look(asked, ['word'])).toEqual({ revoked: [true, false], values: undefined });
  });

  it('is told to whoever asks from a reading that began after the question', async () => {
    const { cache, here } = await fixture();
    const told: string[] = [];
    let reads = 0;
    let release: (() => void)[] = [];
    await cache.subscribe('rev', (message) => {
      if (message.startsWith('["!"')) told.push(message);
    });
    const later = () => new Promise((resolve) => setImmediate(resolve));
    void here.keepFilled(async () => {
      reads += 1;
      await new Promise<void>((resolve) => release.push(resolve));
      return [];
    });
    const finishRead = async (): Promise<void> => {
      const all = release;
      release = [];
      for (const each of all) each();
      await later();
    };
    await later();
    expect(reads).toBe(1);
    await cache.publish('rev', '["?","early"]');
    await finishRead();
    expect([told, reads]).toEqual([[], 2]);
    await cache.publish('rev', '["?","late"]');
    await finishRead();
    expect([told, reads]).toEqual([['["!","early"]'], 3]);
    await finishRead();
    expect(told).toEqual(['["!","early"]', '["!","late"]']);
  });

  it('may be taken back while all are written again, and stays taken back', async () => {
    const { here, there } = await fixture();
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await here.add('user', ['u1', 'u2']);
    const filling = here.keepFilled(async () => {
      await held;
      return [
        { kind: 'user', id: 'u1' },
        { kind: 'user', id: 'u2' },
      ];
    });
    await here.remove('user', ['u1']);
    release();
    await filling;
    expect([await live(there, 'user', 'u1'), await live(there, 'user', 'u2')]).toEqual([
      false,
      true,
    ]);
    expect([there.isRevoked('user', 'u1'), there.isRevoked('user', 'u2')]).toEqual([false, true]);
  });

  it('is written again when the cache has lost its revocations', async () => {
    const { cache, clock, here, there, of } = await fixture();
    await here.keepFilled(async () => [{ kind: 'agent', id: 'a1' }]);
    expect(there.isRevoked('agent', 'a1')).toBe(true);
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
    expect(await live(late, 'agent', 'a1')).toBe(true);
    expect(late.isRevoked('agent', 'a1')).toBe(true);
    expect(turns).toBeGreaterThan(0);
    stop.abort();
    await running;
  });

  it('is known to a process that started after it', async () => {
    const { clock, here, of } = await fixture();
    await here.keepFilled(async () => [{ kind: 'user', id: 'u1' }]);
    const late = of();
    await late.start();
    await clock.advance(0);
    expect(late.isRevoked('user', 'u1')).toBe(true);
  });

  it.each(['rank', 'signin'] as const)(
    'of kind %s ends what was issued before its time, and the latest time counts',
    async (kind) => {
      const { here, there } = await fixture();
      await here.add(kind, ['u1'], 100);
      await there.add(kind, ['u1'], 90);
      for (const each of [here, there]) {
        const at = (at: number) => each.isRevoked(kind, 'u1', at);
        expect([at(89), at(99), at(100)]).toEqual([true, true, false]);
        const asked = [99, 100].map((at) => ({ kind, id: 'u1', at }) as const);
        expect((await each.look(asked)).revoked).toEqual([true, false]);
      }
    },
  );

  it('of a rank stands with its latest time though an earlier one is written again', async () => {
    const { cache, here, there } = await fixture();
    await there.add('rank', ['u1'], 100);
    await here.keepFilled(async () => [
      { kind: 'rank', id: 'u1', at: 90 },
      { kind: 'rank', id: 'u2', at: 95 },
    ]);
    const live = async (id: string, at: number) =>
      (await there.look([{ kind: 'rank', id, at }])).revoked[0];
    expect([await live('u1', 99), await live('u2', 94), await live('u2', 95)]).toEqual([
      true,
      true,
      false,
    ]);
    await cache.delete('rev:rank:u1');
    await here.check();
    expect(await cache.get('rev:rank:u1')).toBeUndefined();
    expect(await live('u1', 99)).toBe(true);
    await cache.delete('rev:generation');
    await here.check();
    expect(await cache.get('rev:rank:u1')).toBe('90');
    expect([await live('u1', 89), await live('u1', 99)]).toEqual([true, true]);
    expect(here.isRevoked('rank', 'u1', 99)).toBe(true);
  });

  it('H2 is in force though the cache has evicted it', async () => {
    const { cache, here, there } = await fixture();
    await here.add('user', ['u1']);
    await cache.delete('rev:user:u1');
    for (const each of [here, there]) expect(await live(each, 'user', 'u1')).toBe(true);
  });

  it('is not made up from notices of others', async () => {
    const { cache, here } = await fixture();
    for (const text of [
      '',
      '{',
      '[]',
      '["+"]',
      '["+","tenant","x"]',
      '["+","user",7]',
      '["+","rank","x","u1"]',
      'null',
    ]) {
      await cache.publish('rev', text);
    }
    expect(here.isRevoked('user', '7')).toBe(false);
  });
});
