import { given } from '@cardea/testing';
import { describe, it } from 'vitest';
import { idempotencyKeys, useIdempotencyKey } from './idempotency.ts';

const FIRST = '2026-01-01T10:00:00.000Z';
const used = (n: number, at: string) => ({ type: 'IdempotencyKeyUsed', data: { n, at } }) as const;
const useAt = (now: string) => (state: Parameters<typeof useIdempotencyKey>[1]) =>
  useIdempotencyKey(new Date(now), state);

describe('an Idempotency-Key', () => {
  it('is used for the first time once', () => {
    given(idempotencyKeys).when(useAt(FIRST)).accepts(used(1, FIRST));
  });

  it.each([FIRST, '2026-01-02T09:59:59.999Z'])('is the same use at %s', (now) => {
    given(idempotencyKeys, used(1, FIRST)).when(useAt(now)).accepts();
  });

  it('is used afresh after a day, and again a day after that', () => {
    const [second, third] = ['2026-01-02T10:00:00.000Z', '2026-01-03T10:00:00.000Z'];
    given(idempotencyKeys, used(1, FIRST)).when(useAt(second)).accepts(used(2, second));
    given(idempotencyKeys, used(1, FIRST), used(2, second))
      .when(useAt(third))
      .accepts(used(3, third));
  });
});
