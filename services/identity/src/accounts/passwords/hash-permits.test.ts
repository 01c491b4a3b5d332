import { fakeClock } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import {
  FOREIGN_WAIT_MAX_MS,
  HASH_QUEUE_MAX,
  HASH_WAIT_MAX_MS,
  hashPermits,
} from './hash-permits.ts';

const ACME = { tenantId: 'acme' };
const ACME_FOREIGN = { ...ACME, isForeign: true };

const pendingJob = () => {
  let release = (): void => {};
  const job = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { job: () => job, release: () => release() };
};
const settled = async () => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
};
const start = (concurrency = 1) => {
  const clock = fakeClock('2026-01-01T00:00:00Z');
  return { clock, permits: hashPermits(concurrency, clock) };
};

describe('the permits for password hashes', () => {
  it('C1 serve tenants in rounds: one that sends many waits for itself', async () => {
    const { permits } = start();
    const first = pendingJob();
    const order: string[] = [];
    const note = (name: string) => async () => void order.push(name);
    const all = [
      permits.run(ACME, first.job),
      ...[1, 2, 3].map((each) => permits.run(ACME, note(`acme ${each}`))),
      permits.run({ tenantId: 'other' }, note('other')),
    ];
    await settled();
    expect(order).toEqual([]);
    first.release();
    await Promise.all(all);
    expect(order.indexOf('other')).toBeLessThanOrEqual(1);
    expect(order.filter((name) => name !== 'other')).toEqual(['acme 1', 'acme 2', 'acme 3']);
  });

  it('S10 C1 refuse at once what a tenant sends beyond its half of the queue, and nobody else', async () => {
    const { permits } = start();
    const first = pendingJob();
    void permits.run(ACME, first.job);
    const half = HASH_QUEUE_MAX / 2;
    const waiting = Array.from({ length: half }, () => permits.run(ACME, async () => 'done'));
    await expect(permits.run(ACME, async () => 'never')).rejects.toMatchObject({
      name: 'Overloaded',
    });
    const other = permits.run({ tenantId: 'other' }, async () => 'other');
    first.release();
    expect(await other).toBe('other');
    expect(await Promise.all(waiting)).toHaveLength(half);
  });

  it('S10 refuse what has waited too long, and give its place to nobody twice', async () => {
    const { clock, permits } = start();
    const first = pendingJob();
    void permits.run(ACME, first.job);
    const late = permits.run(ACME, async () => 'never');
    const refused = expect(late).rejects.toMatchObject({ name: 'Overloaded' });
    await settled();
    await clock.advance(HASH_WAIT_MAX_MS);
    await refused;
    expect(permits.waiting()).toBe(0);
    first.release();
    expect(await permits.run(ACME, async () => 'next')).toBe('next');
  });

  it('C1 leave half of them free beside another tenant', async () => {
    const { permits } = start(4);
    const long = pendingJob();
    let begun = 0;
    const job = () => {
      begun += 1;
      return long.job();
    };
    await permits.run({ tenantId: 'other' }, async () => 'other');
    const all = Array.from({ length: 6 }, () => permits.run(ACME, job));
    await settled();
    expect(begun).toBe(2);
    long.release();
    await Promise.all(all);
    expect(begun).toBe(6);
  });

  it('free the place of a job that failed', async () => {
    const { permits } = start();
    await expect(permits.run(ACME, () => Promise.reject(new Error('broken')))).rejects.toThrow(
      'broken',
    );
    expect(await permits.run(ACME, async () => 'next')).toBe('next');
  });
});

describe('the permits for hashes that were made elsewhere', () => {
  it('C7 are one per tenant at a time, and take none from our own', async () => {
    const { permits } = start(4);
    const first = pendingJob();
    let begun = 0;
    const dear = () => {
      begun += 1;
      return first.job();
    };
    const all = Array.from({ length: 20 }, () => permits.run(ACME_FOREIGN, dear));
    await settled();
    expect(begun).toBe(1);
    const other = { tenantId: 'other', isForeign: true };
    expect(await permits.run(other, async () => 'other')).toBe('other');
    const own = Array.from({ length: 4 }, () => permits.run(ACME, async () => 'own'));
    expect(await Promise.all(own)).toEqual(['own', 'own', 'own', 'own']);
    first.release();
    await Promise.all(all);
    expect(begun).toBe(20);
  });

  it('C1 C7 let one of another tenant wait for several dear ones, and refuse it not', async () => {
    const { clock, permits } = start();
    const long = pendingJob();
    void permits.run(ACME_FOREIGN, long.job);
    const waiting = permits.run(ACME_FOREIGN, async () => 'acme');
    const other = permits.run({ tenantId: 'other', isForeign: true }, async () => 'other');
    await settled();
    await clock.advance(FOREIGN_WAIT_MAX_MS - 1);
    long.release();
    expect(await Promise.all([other, waiting])).toEqual(['other', 'acme']);
  });
});
