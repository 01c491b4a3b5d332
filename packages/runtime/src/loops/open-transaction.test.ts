import { afterEach, describe, expect, it } from 'vitest';
import type { Logger } from '../ports.ts';
import { metrics } from '../telemetry/metrics.ts';
import {
  expectNoTransaction,
  NestedConnection,
  outsideTransactions,
  throwOnNestedConnections,
  transactionTag,
} from './open-transaction.ts';

const counted = async () => (await metrics.nestedConnections.get()).values[0]?.value ?? 0;
const ask = () => expectNoTransaction('a connection');
afterEach(() => throwOnNestedConnections());

describe('an open transaction', () => {
  it('refuses a second connection to whatever it calls, now or later', async () => {
    const { run } = transactionTag();
    expect(() => run(ask)).toThrow(NestedConnection);
    await expect(run(async () => Promise.resolve().then(ask))).rejects.toThrow(NestedConnection);
    expect(ask).not.toThrow();
  });

  it('is over for what it has started once it has committed', async () => {
    const mark = transactionTag();
    const committed = Promise.withResolvers<void>();
    const later = mark.run(() => committed.promise.then(ask));
    mark.close();
    committed.resolve();
    await expect(later).resolves.toBeUndefined();
  });

  it('does not hold for what works for others too', () => {
    const { run } = transactionTag();
    expect(() => run(() => outsideTransactions(ask))).not.toThrow();
  });

  it('only counts in production, and logs each place once', async () => {
    throwOnNestedConnections(false);
    const lines: unknown[] = [];
    const log = { error: (fields: unknown) => void lines.push(fields) } as unknown as Logger;
    const before = await counted();
    const { run } = transactionTag();
    for (let times = 0; times < 3; times += 1) {
      run(() => expectNoTransaction('a connection', log));
    }
    expect((await counted()) - before).toBe(3);
    expect(lines).toHaveLength(1);
  });
});
