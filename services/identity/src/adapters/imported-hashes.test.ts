import { describe, expect, it } from 'vitest';
import { argon2 } from './argon2.ts';
import { withImportedHashes } from './imported-hashes.ts';

const own = argon2({ memoryKib: 64, time: 1 });
const all = withImportedHashes(own);

/** Hashes of the password `correct horse` that other programs made. */
const HASHES: readonly (readonly [string, string])[] = [
  ['bcrypt', '$2b$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e'],
  [
    'scrypt',
    '$scrypt$ln=10,r=8,p=1$YSBzYWx0IG9mIDE2IGJ5Lg$1HNPdQyNQXa9uLR2/rwXkXo+qLWEusqxyJLxaJEReyk',
  ],
  [
    'PBKDF2 with sha256',
    '$pbkdf2-sha256$i=1000,l=32$YSBzYWx0IG9mIDE2IGJ5Lg$avHn/SoZ2Ear7syjsCH+3HGkT2HSKAa6dDbNEwbqK3o',
  ],
  [
    'PBKDF2 with sha512',
    '$pbkdf2-sha512$i=1000,l=32$YSBzYWx0IG9mIDE2IGJ5Lg$NaB948+MpYZL3t6TrX3H4kdx6qK1wqh2wSlQaelTevw',
  ],
  [
    'PBKDF2 as passlib writes it',
    '$pbkdf2-sha256$1000$YSBzYWx0IG9mIDE2IGJ5Lg$avHn/SoZ2Ear7syjsCH.3HGkT2HSKAa6dDbNEwbqK3o',
  ],
  ['PBKDF2 with sha1', '$pbkdf2$1000$YSBzYWx0IG9mIDE2IGJ5Lg$s2QLtvgflcP2K8QYgpQm.FiFcoE'],
];

describe('a password hash that was made elsewhere', () => {
  it.each(HASHES)('of %s is right for its password alone, and due for another', async (_, phc) => {
    expect(all.costOf(phc)).toMatchObject({ sample: expect.any(String) });
    expect(await all.verify(phc, 'correct horse')).toBe(true);
    expect(await all.verify(phc, 'correct hors')).toBe(false);
    expect(all.isOutdated(phc)).toBe(true);
  });

  it.each([
    '',
    'correct horse',
    '$2b$15$AAEcORX03eMMxzC1.y9WfupcSPd4Eb69Rt4xSPLfQ3wjKui1DkMg.',
    '$scrypt$ln=21,r=8,p=1$c2FsdHNhbHRzYWx0$aGFzaGhhc2hoYXNoaGFzaA',
    '$scrypt$ln=0,r=8,p=1$c2FsdHNhbHRzYWx0$aGFzaGhhc2hoYXNoaGFzaA',
    '$pbkdf2-sha256$i=9000000$c2FsdHNhbHRzYWx0$aGFzaGhhc2hoYXNoaGFzaA',
    '$pbkdf2-md5$i=1000$c2FsdHNhbHRzYWx0$aGFzaGhhc2hoYXNoaGFzaA',
    '$pbkdf2-sha256$i=1000$c2Fs$aGFzaGhhc2hoYXNoaGFzaA',
    '$pbkdf2-sha256$i=1000$c2FsdA$aGFz',
    '$argon2id$v=19$m=9999999,t=2,p=1$c2FsdHNhbHQ$aGFzaA',
  ])('is unknown where it is broken or immoderate: "%s"', async (phc) => {
    expect(typeof all.costOf(phc)).not.toBe('object');
    expect(await all.verify(phc, 'correct horse')).toBe(false);
  });

  it('leaves our own hashes to our own function', async () => {
    const phc = await all.hash('correct horse');
    expect(all.costOf(phc)).toMatchObject({ sample: expect.any(String) });
    expect(all.isOutdated(phc)).toBe(false);
    expect(await all.verify(phc, 'correct horse')).toBe(true);
  });

  it.each([
    [
      'bcrypt',
      (cost: number) => `$2b$${cost}$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e`,
      14,
    ],
    [
      'PBKDF2',
      (i: number) => `$pbkdf2-sha256$i=${i}$c2FsdHNhbHRzYWx0$aGFzaGhhc2hoYXNoaGFzaA`,
      2_000_000,
    ],
    [
      'scrypt by p',
      (p: number) => `$scrypt$ln=17,r=8,p=${p}$c2FsdHNhbHRzYWx0$aGFzaGhhc2hoYXNoaGFzaA`,
      2,
    ],
    [
      'scrypt by N',
      (ln: number) => `$scrypt$ln=${ln},r=8,p=1$c2FsdHNhbHRzYWx0$aGFzaGhhc2hoYXNoaGFzaA`,
      18,
    ],
    [
      'argon2 by passes',
      (t: number) => `$argon2id$v=19$m=65536,t=${t},p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNo`,
      8,
    ],
    [
      'argon2 by memory',
      (m: number) => `$argon2id$v=19$m=${m},t=1,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNo`,
      262_144,
    ],
    [
      'argon2 by lanes',
      (p: number) => `$argon2id$v=19$m=1024,t=1,p=${p}$c2FsdHNhbHQ$aGFzaGhhc2hoYXNo`,
      16,
    ],
  ] as const)('C7 of %s is accepted at its ceiling and not above', (_, made, ceiling) => {
    expect(all.costOf(made(ceiling))).toMatchObject({ workMs: expect.any(Number) });
    expect(all.costOf(made(ceiling + 1))).toBe('too_dear');
  });

  it.each(HASHES)(
    'P8 of %s has a sample that costs as much and fits no password',
    async (_, phc) => {
      const cost = all.costOf(phc);
      if (typeof cost !== 'object') throw new Error('it is known');
      expect(all.costOf(cost.sample)).toEqual(cost);
      expect(await all.verify(cost.sample, 'correct horse')).toBe(false);
    },
  );
});
