import { describe, expect, it } from 'vitest';
import { fakeClock } from '../clock.ts';
import { SharedUse } from './fair-shares.ts';

describe('a resource of all tenants', () => {
  it('C1 is shared from the second tenant on, until a second after they took turns', async () => {
    const clock = fakeClock('2026-01-01T00:00:00Z');
    const use = new SharedUse(clock);
    expect([use.by('a'), use.by('a')]).toEqual([false, false]);
    expect([use.by('b'), use.by('b')]).toEqual([true, true]);
    await clock.advance(999);
    expect(use.by('b')).toBe(true);
    await clock.advance(1);
    expect(use.by('b')).toBe(false);
  });

  it('C1 is not shared by tenants that use it seconds apart', async () => {
    const clock = fakeClock('2026-01-01T00:00:00Z');
    const use = new SharedUse(clock);
    use.by('a');
    await clock.advance(1_000);
    expect(use.by('b')).toBe(false);
  });
});
