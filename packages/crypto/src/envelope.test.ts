import { createCipheriv, createSecretKey, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decrypt, encrypt, headerOf, lengthPrefixed, Tampered } from './envelope.ts';

const key = createSecretKey(randomBytes(32));
const place = ['vault.field.v1', 'tenant-1', 'billing', 'password', '3'];
const flipped = (bytes: Buffer, bit: number): Buffer => {
  const copy = Buffer.from(bytes);
  copy[bit >> 3] = (copy[bit >> 3] as number) ^ (1 << (bit & 7));
  return copy;
};

/** Whether it decrypts with its AAD. Errors other than a refused ciphertext are rethrown. */
const opens = (blob: Buffer): boolean => {
  try {
    decrypt(key, blob, place);
    return true;
  } catch (error) {
    if (error instanceof Tampered) return false;
    throw error;
  }
};

describe('an encrypted value', () => {
  it('is read where it was written', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.array(fc.string()), (plain, parts) => {
        const blob = encrypt(key, Buffer.from(plain), parts);
        expect(decrypt(key, blob, parts)).toEqual(Buffer.from(plain));
      }),
    );
  });

  it('S16 is refused with any bit of it flipped, of whatever length', () => {
    for (const length of [0, 1, 16, 33, 200]) {
      const blob = encrypt(key, randomBytes(length), place);
      expect(opens(blob)).toBe(true);
      for (let bit = 0; bit < blob.length * 8; bit += 1) {
        if (opens(flipped(blob, bit))) throw new Error(`opens with bit ${bit} flipped`);
      }
      for (let cut = 1; cut < blob.length; cut += 1) {
        if (opens(blob.subarray(0, -cut))) throw new Error(`opens without its last ${cut} bytes`);
      }
    }
  });

  it('S16 is refused with any bit of its place flipped, and where parts are cut otherwise', () => {
    const blob = encrypt(key, 'value', place);
    place.forEach((part, index) => {
      const bytes = Buffer.from(part);
      for (let bit = 0; bit < bytes.length * 8; bit += 1) {
        const other = place.map((each, at) => (at === index ? flipped(bytes, bit) : each));
        expect(() => decrypt(key, blob, other)).toThrow(Tampered);
      }
    });
    expect(() => decrypt(key, encrypt(key, 'v', ['ab', 'c']), ['a', 'bc'])).toThrow(Tampered);
    expect(() => decrypt(createSecretKey(randomBytes(32)), blob, place)).toThrow(Tampered);
  });

  it('S16 is refused with a tag of four bytes', () => {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: 4 });
    cipher.setAAD(lengthPrefixed(...place));
    const text = Buffer.concat([cipher.update(randomBytes(64)), cipher.final()]);
    const blob = Buffer.concat([Buffer.of(1), nonce, text, cipher.getAuthTag()]);
    expect(() => decrypt(key, blob, place)).toThrow(Tampered);
  });

  it('S16 never repeats a nonce', () => {
    const drawn = new Set<string>();
    for (let box = 0; box < 10_000; box += 1) {
      drawn.add(encrypt(key, '', place).subarray(1, 13).toString('hex'));
    }
    expect(drawn.size).toBe(10_000);
  });

  it('carries a header for whoever must choose the key', () => {
    const header = Buffer.from('00000007', 'hex');
    const blob = encrypt(key, 'value', [...place, header], { header });
    expect(headerOf(blob, 4)).toEqual(header);
    expect(decrypt(key, blob, [...place, headerOf(blob, 4)], 4).toString()).toBe('value');
    for (let bit = 8; bit < 40; bit += 1) {
      const bad = flipped(blob, bit);
      expect(() => decrypt(key, bad, [...place, headerOf(bad, 4)], 4)).toThrow(Tampered);
    }
  });
});
