import { describe, expect, it } from 'vitest';
import { EvaluationBudgetExceeded, type Walk } from './budget.ts';
import { slices } from './in-slices.ts';
import { ClientGone, COMPUTING_MAX_MS, Work } from './work.ts';

const STEP_MS = 1;

/** A clock that only walks advance, and walks that record when they ran. */
function fixture() {
  let nowMs = 0;
  const now = () => nowMs;
  const inSlices = slices(now, now);
  const log: string[] = [];
  function* walk(name: string, steps: number): Walk<string> {
    for (let step = 0; step < steps; step++) {
      nowMs += STEP_MS;
      log.push(name);
      yield;
    }
    return name;
  }
  return { inSlices, log, walk, now };
}
const without = (log: readonly string[]) => log.filter((name, at) => name !== log[at - 1]);

describe('walks in slices', () => {
  it('C1 go round between tenants, not between walks', async () => {
    const { inSlices, log, walk } = fixture();
    const a = new Work('a');
    const walks = ['a1', 'a2', 'a3'].map((name) => inSlices(a, walk(name, 10)));
    walks.push(inSlices(new Work('b'), walk('b1', 10)));
    await Promise.all(walks);
    expect(without(log).slice(0, 4)).toEqual(['a1', 'b1', 'a2', 'b1']);
  });

  it('C2 leave the thread to others after each slice, however many there are', async () => {
    const { inSlices, walk, now } = fixture();
    let longest = 0;
    let last = now();
    let open = true;
    const looking = (async () => {
      while (open) {
        longest = Math.max(longest, now() - last);
        last = now();
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    await Promise.all(
      ['a', 'b', 'c', 'd'].map((tenant) => inSlices(new Work(tenant), walk(tenant, 100))),
    );
    open = false;
    await looking;
    expect(longest).toBeLessThanOrEqual(10);
  });

  it('C2 share the time of their request', async () => {
    const { inSlices, walk, now } = fixture();
    const work = new Work('a');
    await inSlices(work, walk('first', COMPUTING_MAX_MS - 100));
    await expect(inSlices(work, walk('second', 200))).rejects.toThrow(EvaluationBudgetExceeded);
    expect(now()).toBeLessThanOrEqual(COMPUTING_MAX_MS + 10);
  });

  it('C2 may answer in part once the time is over', async () => {
    const { inSlices, walk } = fixture();
    function* partly(): Walk<string> {
      try {
        return yield* walk('all', 2 * COMPUTING_MAX_MS);
      } catch {
        return 'a part';
      }
    }
    expect(await inSlices(new Work('a'), partly())).toBe('a part');
  });

  it('C2 stop once the client is gone', async () => {
    const { inSlices, walk, log } = fixture();
    const client = new AbortController();
    const going = inSlices(new Work('a', client.signal), walk('a', 1_000));
    setImmediate(() => client.abort());
    await expect(going).rejects.toThrow(ClientGone);
    expect(log.length).toBeLessThan(100);
  });
});
