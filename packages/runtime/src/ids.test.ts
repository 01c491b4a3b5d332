import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fakeClock } from './clock.ts';
import { uuidFrom, uuidV5, uuidV7Ids } from './ids.ts';

describe('ids', () => {
  it('grow within a millisecond and when the wall clock goes back', () => {
    const clock = fakeClock('2026-01-01T00:00:00Z');
    const ids = uuidV7Ids(clock);
    const drawn = Array.from({ length: 10_000 }, () => ids.next());
    clock.setWall('2025-01-01T00:00:00Z');
    drawn.push(ids.next());
    expect([...drawn].sort()).toEqual(drawn);
    expect(new Set(drawn).size).toBe(drawn.length);
    expect(drawn[0]).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });

  it('of other parts are other ids, wherever the parts are cut', () => {
    const parts = fc.array(fc.string(), { maxLength: 4 });
    fc.assert(
      fc.property(parts, parts, (a, b) => {
        expect(uuidFrom(...a) === uuidFrom(...b)).toBe(JSON.stringify(a) === JSON.stringify(b));
      }),
    );
    expect(uuidFrom('ab', 'c')).not.toBe(uuidFrom('a', 'bc'));
    expect(uuidFrom('a')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab]/);
  });

  it('of names are those of RFC 9562', () => {
    expect(uuidV5('6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'www.example.com')).toBe(
      '2ed6657d-e927-568b-95e1-2665a8aea6a2',
    );
  });
});
