import { secretHash } from '@cardea/crypto';
import { describe, expect, it } from 'vitest';
import {
  afterRotation,
  firstSecret,
  recognise,
  rotatedSecret,
  stampsEndedBy,
} from './key-secret.ts';

const NOW = new Date('2026-01-01T00:00:00Z');
const at = (seconds: number) => new Date(NOW.getTime() + seconds * 1_000);
const rotate = (key: ReturnType<typeof firstSecret>, secret: string, graceSeconds: number) =>
  afterRotation(key, rotatedSecret(key, { hash: secretHash(secret), graceSeconds, now: NOW }));

describe('the secret of a key', () => {
  it('identity 13 is known after a rotation until its grace ends, and not a moment longer', () => {
    const key = rotate(firstSecret(secretHash('one')), 'two', 60);
    expect(recognise('one', key, at(59))).toMatchObject({ until: at(60) });
    expect(recognise('one', key, at(60))).toBeUndefined();
    expect(recognise('two', key, at(3_600))).toMatchObject({ until: null });
    expect(recognise('three', key, NOW)).toBeUndefined();
  });

  it('identity 13 is void at once without grace, and after the next rotation', () => {
    const key = rotate(firstSecret(secretHash('one')), 'two', 0);
    expect(recognise('one', key, NOW)).toBeUndefined();
    const third = rotate(rotate(firstSecret(secretHash('one')), 'two', 60), 'three', 60);
    expect(recognise('one', third, NOW)).toBeUndefined();
    expect(recognise('two', third, NOW)).toBeDefined();
  });

  it('has a stamp that every rotation ends, whichever of the two secrets was shown', () => {
    const first = rotate(firstSecret(secretHash('one')), 'two', 60);
    const second = rotate(first, 'three', 60);
    const ended = stampsEndedBy('id', second);
    for (const secret of ['one', 'two']) {
      expect(ended).toContain(`id.${recognise(secret, first, NOW)?.stamp}`);
    }
    for (const secret of ['two', 'three']) {
      expect(ended).not.toContain(`id.${recognise(secret, second, NOW)?.stamp}`);
    }
  });
});
