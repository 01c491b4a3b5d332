import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deriveKey } from '../derive.ts';
import {
  isGenuineRefreshToken,
  issueRefreshToken,
  parseRefreshToken,
  printRefreshToken,
} from './refresh-token.ts';

/** UTF-16 units of any kind, including lone surrogates. */
const anyText = fc
  .array(fc.nat(0xffff), { maxLength: 80 })
  .map((units) => String.fromCharCode(...units));
const RUNS = { numRuns: 2000 };
const [key, other] = [deriveKey('a', 'refresh/v1'), deriveKey('b', 'refresh/v1')];

describe('a refresh token', () => {
  it('F3 is read as it was printed', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.nat(999_999_999), fc.string(), (sid, seq, salt) => {
        const text = issueRefreshToken(key, { salt, sid, seq });
        const token = parseRefreshToken(text);
        const keys = { current: key, previous: undefined };
        return (
          token?.sid === sid &&
          token.seq === seq &&
          printRefreshToken(token) === text &&
          isGenuineRefreshToken(keys, token, salt)
        );
      }),
      RUNS,
    );
  });

  it('F3 has one spelling only', () => {
    // An id with letters in it, which a random one may lack.
    const sid = '0198f3c2-abcd-7000-8000-00000000000e';
    const mac = Buffer.alloc(32).toString('base64url');
    expect(parseRefreshToken(`rt_${sid}.7.${mac}`)).toBeDefined();
    for (const text of [
      `rt_${sid}.07.${mac}`,
      `rt_${sid}.-1.${mac}`,
      `rt_${sid}.1e3.${mac}`,
      `rt_${sid.toUpperCase()}.7.${mac}`,
      `rt_${sid}.7.${mac.slice(0, -1)}B`,
      `rt_${sid}.7.${mac}=`,
      `rt_${sid}.7.${mac}\n`,
      `RT_${sid}.7.${mac}`,
      `rt_${sid}.9999999999.${mac}`,
    ]) {
      expect(parseRefreshToken(text)).toBeUndefined();
    }
    fc.assert(
      fc.property(anyText, (text) => parseRefreshToken(`rt_${text}`) === undefined),
      RUNS,
    );
  });

  it('is genuine only under the salt of its session, its number and a secret in use', () => {
    const of = { salt: 'salt', sid: randomUUID(), seq: 3 };
    const token = parseRefreshToken(issueRefreshToken(key, of));
    if (token === undefined) throw new Error('not parsed');
    const keys = { current: key, previous: undefined };
    expect(isGenuineRefreshToken({ current: other, previous: key }, token, 'salt')).toBe(true);
    expect(isGenuineRefreshToken({ ...keys, current: other }, token, 'salt')).toBe(false);
    expect(isGenuineRefreshToken(keys, token, 'pepper')).toBe(false);
    expect(isGenuineRefreshToken(keys, { ...token, seq: 4 }, 'salt')).toBe(false);
    expect(isGenuineRefreshToken(keys, { ...token, sid: randomUUID() }, 'salt')).toBe(false);
  });
});
