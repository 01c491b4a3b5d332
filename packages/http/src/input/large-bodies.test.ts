import { describe, expect, it } from 'vitest';
import { LargeBodies, mayBeLarge } from './large-bodies.ts';

describe('large bodies', () => {
  it('C1 have a share per tenant, and leave room to others', () => {
    const bodies = new LargeBodies();
    const first = bodies.take('a');
    expect([bodies.take('a'), bodies.take('a')].map((each) => typeof each)).toEqual([
      'function',
      'undefined',
    ]);
    expect(bodies.take('b')).toBeDefined();
    first?.();
    expect(bodies.take('a')).toBeDefined();
  });

  it('C1 are few over all tenants', () => {
    const bodies = new LargeBodies();
    const taken = Array.from({ length: 20 }, (_, at) => bodies.take(`tenant-${at}`));
    const places = taken.filter((release) => release !== undefined);
    expect(places.length).toBe(8);
    for (const release of places) release();
    expect(bodies.take('another')).toBeDefined();
  });

  it('C1 are parsed one after the other, with other work in between', async () => {
    const bodies = new LargeBodies();
    const log: string[] = [];
    const parse = (name: string) =>
      bodies.parsed(() => {
        const endMs = performance.now() + 5;
        while (performance.now() < endMs);
        log.push(name);
      });
    const both = [parse('a'), parse('b')];
    await both[0];
    const startMs = performance.now();
    await both[1];
    expect(performance.now() - startMs).toBeGreaterThan(15);
    expect(log).toEqual(['a', 'b']);
  });

  it('go on after one that could not be parsed', async () => {
    const bodies = new LargeBodies();
    const broken = bodies.parsed(() => {
      throw new Error('broken');
    });
    await expect(broken).rejects.toThrow('broken');
    expect(await bodies.parsed(() => 'fine')).toBe('fine');
  });

  it.each([
    [{ 'content-length': '262144' }, false],
    [{ 'content-length': '262145' }, true],
    [{ 'transfer-encoding': 'chunked' }, true],
    [{}, false],
  ])('may be announced by %j: %s', (headers, expected) => {
    expect(mayBeLarge(headers)).toBe(expected);
  });
});
