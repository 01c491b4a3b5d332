import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { base62 } from './base62.ts';
import { crockford, readCrockford } from './crockford.ts';
import { sameBytes } from './digest.ts';

describe('texts for people', () => {
  it('F3 read back whatever a person made of case, hyphens and look-alikes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 5, maxLength: 20 }), (bytes) => {
        const text = crockford(Buffer.from(bytes));
        const typed = text
          .toLowerCase()
          .replace(/0/g, 'o')
          .replace(/1/g, 'l')
          .replace(/.{4}/g, '$&-');
        expect(readCrockford(typed)).toBe(text);
        expect(text).toHaveLength(Math.floor((bytes.length * 8) / 5));
      }),
    );
    expect(readCrockford('ABCU')).toBeUndefined();
    expect(readCrockford('')).toBeUndefined();
  });

  it('have the length asked for, and differ where the bytes differ', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        (a, b) => {
          const [left, right] = [base62(Buffer.from(a), 43), base62(Buffer.from(b), 43)];
          expect(left).toMatch(/^[0-9A-Za-z]{43}$/);
          expect(left === right).toBe(sameBytes(Buffer.from(a), Buffer.from(b)));
        },
      ),
    );
  });
});
