/** Codes of an independent implementation of RFC 6238, OATH Toolkit's `oathtool`, are accepted. */
import { execFileSync, spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { readTotpSecret, totpSecret, totpStep } from '../src/adapters/totp.ts';

const isInstalled = spawnSync('oathtool', ['--version']).status === 0;
const STEP_MS = 30_000;
const codeOf = (secret: string, at: Date): string =>
  execFileSync('oathtool', ['--totp', '--base32', '-N', `@${at.getTime() / 1_000}`, secret])
    .toString()
    .trim();

describe.skipIf(!isInstalled)('oathtool', () => {
  it('identity 11 makes codes that are right in their step and those beside it', () => {
    const random = { bytes: (length: number) => Buffer.alloc(length, 7) };
    const { secret } = totpSecret(random, { issuer: 'Cardea', account: 'ann@example.com' });
    for (const at of ['2026-01-01T00:00:00Z', '2038-01-19T03:14:00Z', '2100-12-31T23:59:30Z']) {
      const now = new Date(at);
      const step = now.getTime() / STEP_MS;
      const code = codeOf(secret, now);
      const after = (steps: number) => new Date(now.getTime() + steps * STEP_MS);
      expect(totpStep(secret, code, now)).toBe(step);
      expect(totpStep(secret, code, after(1))).toBe(step);
      expect(totpStep(secret, code, after(-1))).toBe(step);
      expect(totpStep(secret, code, after(2))).toBeNull();
    }
  });

  it('identity 11 reads the secrets that are imported as we do', () => {
    const now = new Date('2026-01-01T00:00:00Z');
    const secret = readTotpSecret('jbsw y3dp ehpk 3pxp') ?? '';
    expect(totpStep(secret, codeOf(secret, now), now)).not.toBeNull();
  });
});
