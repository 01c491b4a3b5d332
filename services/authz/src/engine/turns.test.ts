import { fakeClock } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { turns } from './turns.ts';
import { ClientGone, Work } from './work.ts';

/** One tenant has one place, and may wait for two more. */
const FORM = { places: 2, perFreePlace: 1 / 3, waitingMax: 4, waitMaxMs: 2_000 };

/** Pieces of work that end on command, and the progress of each. */
function pieces() {
  const clock = fakeClock('2026-01-01T00:00:00Z');
  const turn = turns(FORM, clock);
  const ends = new Map<string, () => void>();
  const begun: string[] = [];
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return {
    begun,
    clock,
    settle,
    start: (tenantId: string, name: string, signal?: AbortSignal) =>
      turn(new Work(tenantId, signal), () => {
        begun.push(name);
        return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
      }),
    end: async (name: string) => {
      ends.get(name)?.();
      await settle();
    },
  };
}

describe('turns for long work', () => {
  it('let one tenant take one, and the next tenant the other', async () => {
    const { begun, start, end, settle } = pieces();
    const all = [start('a', 'a1'), start('a', 'a2'), start('b', 'b1'), start('c', 'c1')];
    await settle();
    expect(begun).toEqual(['a1', 'b1']);
    await end('b1');
    // a2 was queued first, but its tenant has just had its turn.
    expect(begun).toEqual(['a1', 'b1', 'c1']);
    await end('a1');
    await end('a2');
    await end('c1');
    expect(await Promise.all(all)).toEqual(['a1', 'a2', 'b1', 'c1']);
  });

  it('refuse what one tenant has too much of, while others wait', async () => {
    const { begun, start, end, settle } = pieces();
    const first = start('a', 'a1');
    const waiting = [start('a', 'a2'), start('a', 'a3')];
    expect(await start('a', 'a4')).toBe('overloaded');
    const others = [start('b', 'b1'), start('c', 'c1'), start('d', 'd1')];
    expect(await start('e', 'e1')).toBe('overloaded');
    await settle();
    expect(begun).toEqual(['a1', 'b1']);
    for (const name of ['a1', 'b1', 'a2', 'c1', 'd1', 'a3']) await end(name);
    expect(await Promise.all([first, ...waiting, ...others])).toEqual([
      'a1',
      'a2',
      'a3',
      'b1',
      'c1',
      'd1',
    ]);
  });

  it('refuse what has waited too long, and never begin it', async () => {
    const { begun, clock, start, end, settle } = pieces();
    const first = start('a', 'a1');
    const late = start('a', 'a2');
    await clock.advance(1_000);
    const next = start('a', 'a3');
    await clock.advance(1_000);
    expect(await late).toBe('overloaded');
    await end('a1');
    await settle();
    expect(begun).toEqual(['a1', 'a3']);
    await end('a3');
    expect(await Promise.all([first, next])).toEqual(['a1', 'a3']);
  });

  it('go on after work that failed', async () => {
    const turn = turns(FORM, fakeClock('2026-01-01T00:00:00Z'));
    await expect(turn(new Work('a'), () => Promise.reject(new Error('broken')))).rejects.toThrow(
      'broken',
    );
    expect(await turn(new Work('a'), async () => 'done')).toBe('done');
  });

  it('C1 go round between tenants, however much one of them asked for first', async () => {
    const { begun, start, end, settle } = pieces();
    const all = [
      start('a', 'a1'),
      start('b', 'b1'),
      start('a', 'a2'),
      start('a', 'a3'),
      start('c', 'c1'),
    ];
    await settle();
    for (const name of ['a1', 'b1', 'a2', 'c1', 'a3']) await end(name);
    expect(begun).toEqual(['a1', 'b1', 'a2', 'c1', 'a3']);
    await Promise.all(all);
  });

  it('C2 do not begin what nobody waits for any more', async () => {
    const { begun, start, end, settle } = pieces();
    const client = new AbortController();
    const first = start('a', 'a1');
    const left = start('a', 'a2', client.signal);
    client.abort();
    await expect(left).rejects.toThrow(ClientGone);
    await end('a1');
    await settle();
    expect([await first, begun]).toEqual(['a1', ['a1']]);
    await expect(start('a', 'a3', client.signal)).rejects.toThrow(ClientGone);
  });

  it('C2 count the waiting of a request over all of its turns', async () => {
    const clock = fakeClock('2026-01-01T00:00:00Z');
    const turn = turns({ ...FORM, waitMaxMs: 8_000 }, clock);
    const work = new Work('a');
    const held = Promise.withResolvers<string>();
    const first = turn(new Work('a'), () => held.promise);
    const second = turn(work, async () => 'late');
    await clock.advance(8_000);
    expect(await second).toBe('overloaded');
    const third = turn(work, async () => 'later');
    await clock.advance(2_000);
    expect(await third).toBe('overloaded');
    held.resolve('first');
    expect(await first).toBe('first');
  });
});
