import { secret } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { deriveFrom, deriveKey, wrapKeyOf, wrapKeys } from './derive.ts';

const settings = {
  JWT_SECRET: secret('j'.repeat(32)),
  JWT_SECRET_PREVIOUS: secret('p'.repeat(32)),
  ENCRYPTION_KEY: secret('AB12'.repeat(16)),
  ENCRYPTION_KEY_PREVIOUS: undefined,
};

describe('a derived key', () => {
  it('is another for every secret and every use', () => {
    const derive = deriveFrom(settings);
    const { current, previous } = derive('JWT_SECRET', 'refresh/v1');
    expect(current).toEqual(deriveKey('j'.repeat(32), 'refresh/v1'));
    expect(previous).toEqual(deriveKey('p'.repeat(32), 'refresh/v1'));
    expect(derive('JWT_SECRET', 'otp/v1').current).not.toEqual(current);
    expect(derive('ENCRYPTION_KEY', 'refresh/v1').previous).toBeUndefined();
    expect(derive('JWT_SECRET', 'refresh/v1').current).toBe(current);
  });

  it('of ENCRYPTION_KEY does not depend on the case of its digits, nor does its id', () => {
    const lower = { ...settings, ENCRYPTION_KEY: secret('ab12'.repeat(16)) };
    const { current } = wrapKeys(settings, 'dek-wrap/v1');
    const other = wrapKeys(lower, 'dek-wrap/v1').current;
    expect(other.id).toBe(current.id);
    expect(other.key.equals(current.key)).toBe(true);
    expect(current.id).toMatch(/^[0-9a-f]{8}$/);
    expect(wrapKeyOf(wrapKeys(settings, 'dek-wrap/v1'), '00000000')).toBeUndefined();
  });
});
