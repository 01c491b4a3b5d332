import { describe, expect, it } from 'vitest';
import { totpSecret, totpStep } from './totp.ts';

/** The SHA-1 secret of RFC 6238, appendix B. Codes are the last six of its eight digits. */
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const at = (seconds: number) => new Date(seconds * 1000);

describe('a time-based code', () => {
  it.each([
    { seconds: 59, code: '287082' },
    { seconds: 1111111109, code: '081804' },
    { seconds: 1111111111, code: '050471' },
    { seconds: 1234567890, code: '005924' },
    { seconds: 2000000000, code: '279037' },
    { seconds: 20000000000, code: '353130' },
  ])('identity 11 is that of RFC 6238 at $seconds', ({ seconds, code }) => {
    expect(totpStep(SECRET, code, at(seconds))).toBe(Math.floor(seconds / 30));
  });

  it('is of the step before or after, however early or late it comes, and of no other', () => {
    const step = Math.floor(59 / 30);
    const seen = [29, 59, 60, 89, 90, 120].map((seconds) =>
      totpStep(SECRET, '287082', at(seconds)),
    );
    expect(seen).toEqual([step, step, step, step, null, null]);
  });

  it.each([
    '287 082',
    '287-082',
    '287–082',
    '２８７０８２',
    '٢٨٧٠٨٢',
    '२८७०८२',
    '\u200e287082\u200e',
  ])('has six digits, typed as %j [identity-26]', (code) => {
    expect(totpStep(SECRET, code, at(59))).toBe(1);
  });

  it('has six digits, no more and no fewer', () => {
    for (const code of ['', '28708', '0287082', '28708a', '2'.repeat(200)])
      expect(totpStep(SECRET, code, at(59))).toBeNull();
  });

  it('comes of a secret that an app reads from the address', () => {
    const made = totpSecret(
      { bytes: (length) => Buffer.alloc(length, 7) },
      { issuer: 'Acme & Co', account: 'ann@example.com' },
    );
    const url = new URL(made.url);
    expect(url.protocol).toBe('otpauth:');
    expect(decodeURIComponent(url.pathname)).toContain('ann@example.com');
    expect(url.searchParams.get('secret')).toBe(made.secret);
    expect(url.searchParams.get('issuer')).toBe('Acme & Co');
    expect(Buffer.from(made.secret, 'utf8')).toHaveLength(32);
  });
});
