import { describe, expect, it } from 'vitest';
import { refusedWrites } from './refused-writes.ts';

/** An error as the drivers throw it: their error is the cause of ours. */
const thrown = (code: string): Error =>
  new Error('not available', { cause: Object.assign(new Error('refused'), { code }) });

describe('R19 writes that the database refuses to everybody', () => {
  const at = { ms: 0 };
  const writes = refusedWrites({ monotonicMs: () => at.ms });

  it.each(['08006', '23505', '53300', '57P01'])('are not meant by %s', (code) => {
    writes.heard(thrown(code));
    expect(writes.reason()).toBeUndefined();
  });

  it.each([
    ['53100', 'disk_full'],
    ['25006', 'read_only_sql_transaction'],
  ])('are named for 30 seconds: %s', (code, condition) => {
    writes.heard(thrown(code));
    expect(writes.reason()).toBe(condition);
    at.ms += 30_000;
    expect(writes.reason()).toBe(condition);
    at.ms += 1;
    expect(writes.reason()).toBeUndefined();
  });
});
