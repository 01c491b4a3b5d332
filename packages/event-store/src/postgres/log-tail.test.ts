import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RecordedEvent } from '../event-store.ts';
import { logTails } from './log-tail.ts';

const event = (position: bigint) => ({ position }) as RecordedEvent;

/** A table whose reads return the rows of the time when they began. They resolve when the test lets them. */
function table(count = 0) {
  const rows = Array.from({ length: count }, (_, n) => event(BigInt(n + 1)));
  const waiting: (() => void)[] = [];
  const asked: { after: bigint; limit: number }[] = [];
  return {
    rows,
    asked,
    held: false,
    release: () => waiting.splice(0).forEach((go) => void go()),
    async read(_log: string, after: bigint, limit: number) {
      asked.push({ after, limit });
      const answer = rows.filter(({ position }) => position > after).slice(0, limit);
      if (this.held) await new Promise<void>((resolve) => waiting.push(resolve));
      return answer;
    },
    append(many = 1) {
      for (let n = 0; n < many; n++) rows.push(event(BigInt(rows.length + 1)));
    },
  };
}
const positions = (events: readonly RecordedEvent[]) => events.map(({ position }) => position);
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('the tail of a log', () => {
  it('is read once for all who ask in one turn', async () => {
    const log = table(3);
    const tail = logTails((...of) => log.read(...of))('identity');
    expect(positions(await tail.read(0n, 10))).toEqual([1n, 2n, 3n]);
    log.append();
    const all = await Promise.all([0n, 2n, 3n].map((after) => tail.read(after, 10)));
    expect(all.map(positions)).toEqual([[1n, 2n, 3n, 4n], [3n, 4n], [4n]]);
    expect(log.asked).toEqual([
      { after: 0n, limit: 10 },
      { after: 3n, limit: 10 },
    ]);
  });

  it('shows what was committed before the call, also while an older read is under way', async () => {
    const log = table(1);
    const tail = logTails((...of) => log.read(...of))('identity');
    await tail.read(0n, 10);
    log.held = true;
    const before = tail.read(1n, 10);
    while (log.asked.length < 2) await turn();
    log.append();
    const after = tail.read(1n, 10);
    log.held = false;
    log.release();
    expect(positions(await before)).toEqual([]);
    expect(positions(await after)).toEqual([2n]);
  });

  it('never answers a page as the last that is not', async () => {
    const log = table(1);
    const tail = logTails((...of) => log.read(...of))('identity');
    await tail.read(0n, 10);
    log.append(8);
    const [few, many] = await Promise.all([tail.read(1n, 2), tail.read(1n, 10)]);
    expect(positions(few)).toEqual([2n, 3n]);
    expect(positions(many)).toEqual([2n, 3n, 4n, 5n, 6n, 7n, 8n, 9n]);
  });

  it('fails for those who waited for the read that failed, and for nobody else', async () => {
    const log = table(1);
    let broken = false;
    const tail = logTails((...of) =>
      broken ? Promise.reject(new Error('away')) : log.read(...of),
    )('identity');
    await tail.read(0n, 10);
    broken = true;
    await expect(tail.read(1n, 10)).rejects.toThrow('away');
    broken = false;
    log.append();
    expect(positions(await tail.read(1n, 10))).toEqual([2n]);
  });

  it('is the table, wherever a reader stands and however much was appended', async () => {
    const step = fc.record({
      append: fc.nat(700),
      back: fc.nat(1500),
      limit: fc.integer({ min: 1, max: 500 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const log = table();
        const tail = logTails((...of) => log.read(...of))('identity');
        for (const { append, back, limit } of steps) {
          log.append(append);
          const after = BigInt(Math.max(0, log.rows.length - back));
          const found = await tail.read(after, limit);
          const expected = log.rows.filter(({ position }) => position > after).slice(0, limit);
          expect(positions(found)).toEqual(positions(expected));
        }
      }),
      { numRuns: 50 },
    );
  });

  describe('for a follower', () => {
    it('is not read again for what was stored here', async () => {
      const log = table(1);
      const tail = logTails((...of) => log.read(...of))('identity');
      await tail.read(0n, 10);
      await tail.read(1n, 10);
      log.append(2);
      tail.stored(() => log.rows.slice(1));
      expect(positions(await tail.follow(1n, 10))).toEqual([2n, 3n]);
      expect(positions(await tail.follow(0n, 2))).toEqual([1n, 2n]);
      expect(positions(await tail.follow(3n, 2))).toEqual([]);
      expect(log.asked).toHaveLength(2);
    });

    it('is read again where others were heard of', async () => {
      const log = table(1);
      const tail = logTails((...of) => log.read(...of))('identity');
      await tail.read(0n, 10);
      await tail.read(1n, 10);
      log.append(2);
      tail.stored(() => log.rows.slice(1, 2));
      tail.heard();
      expect(positions(await tail.follow(1n, 10))).toEqual([2n, 3n]);
    });

    it('is read where a batch of this process shows that another stands before it', async () => {
      const log = table(1);
      const tail = logTails((...of) => log.read(...of))('identity');
      await tail.read(0n, 10);
      await tail.read(1n, 10);
      log.append(1);
      tail.stored(() => log.rows.slice(1));
      log.append(2);
      tail.stored(() => log.rows.slice(3));
      expect(positions(await tail.follow(1n, 10))).toEqual([2n, 3n, 4n]);
    });

    it('misses nothing that it was told of, whoever stored it and however the answers cross', async () => {
      const step = fc.record({
        // Batches in the order of their commits. A batch of another process is announced by a notice, or only found by
        // a poll.
        batches: fc.array(
          fc.record({ size: fc.integer({ min: 1, max: 9 }), by: fc.constantFrom('us', 'others') }),
          { maxLength: 40 },
        ),
        answered: fc.infiniteStream(fc.nat()),
        heard: fc.boolean(),
        back: fc.nat(30),
        limit: fc.integer({ min: 1, max: 40 }),
        readsFirst: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
          const log = table();
          const tail = logTails((...of) => log.read(...of))('identity');
          let isUntold = false;
          for (const { batches, answered, heard, back, limit, readsFirst } of steps) {
            const own: RecordedEvent[][] = [];
            for (const { size, by } of batches) {
              const from = log.rows.length;
              log.append(size);
              if (by === 'us') own.push(log.rows.slice(from));
            }
            isUntold ||= batches.some(({ by }) => by === 'others');
            const early = readsFirst ? tail.follow(0n, limit) : undefined;
            while (own.length > 0) {
              const [batch = []] = own.splice((answered.next().value ?? 0) % own.length, 1);
              tail.stored(() => batch);
            }
            if (heard) tail.heard();
            if (heard) isUntold = false;
            const after = BigInt(Math.max(0, log.rows.length - back));
            const all = log.rows.filter(({ position }) => position > after);
            const found = positions(await tail.follow(after, limit));
            const expected = positions(all.slice(0, limit));
            // There is never a gap. The result is complete, unless another process has appended without a notice.
            expect(found).toEqual(expected.slice(0, found.length));
            if (!isUntold) expect(found).toEqual(expected);
            await early;
          }
        }),
        { numRuns: 300 },
      );
    });
  });
});
