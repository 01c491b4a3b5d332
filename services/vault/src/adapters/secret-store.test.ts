import { createSecretKey } from 'node:crypto';
import { Tampered } from '@cardea/crypto';
import { seededRandom } from '@cardea/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openSecret, type SecretLocation, sealSecret } from './secret-store.ts';

const RUNS = 200;
const random = seededRandom('vault');
const key = createSecretKey(random.bytes(32));
const dataKey = { version: 1, key };

const place: fc.Arbitrary<SecretLocation> = fc.record({
  tenantId: fc.string({ minLength: 1 }),
  ownerId: fc.uuid(),
  name: fc.stringMatching(/^[a-z][a-z0-9_]{0,10}$/),
  version: fc.integer({ min: 1, max: 1000 }),
  secret_id: fc.uuid(),
});
const value = fc.string({ minLength: 1, maxLength: 200 });

describe('a sealed secret', () => {
  it('opens to what was sealed', () => {
    fc.assert(
      fc.property(place, value, (where, text) => {
        const blob = sealSecret(dataKey, where, text, random);
        expect(openSecret(key, where, blob).toString('utf8')).toBe(
          Buffer.from(text).toString('utf8'),
        );
      }),
      { numRuns: RUNS },
    );
  });

  it('vault 13 does not open with any bit of it flipped', () => {
    fc.assert(
      fc.property(place, value, fc.nat(), (where, text, at) => {
        const blob = sealSecret(dataKey, where, text, random);
        const bit = at % (blob.length * 8);
        const byte = Math.floor(bit / 8);
        blob[byte] = (blob[byte] ?? 0) ^ (1 << (bit % 8));
        expect(() => openSecret(key, where, blob)).toThrow(Tampered);
      }),
      { numRuns: RUNS },
    );
  });

  it('vault 13 does not open in another place, whichever part of the place differs', () => {
    fc.assert(
      fc.property(place, place, value, (where, other, text) => {
        const blob = sealSecret(dataKey, where, text, random);
        for (const part of Object.keys(where) as (keyof SecretLocation)[]) {
          if (where[part] === other[part]) continue;
          const moved = { ...where, [part]: other[part] };
          expect(() => openSecret(key, moved, blob)).toThrow(Tampered);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('vault 13 does not open under another key or a claimed key version', () => {
    fc.assert(
      fc.property(place, value, (where, text) => {
        const blob = sealSecret(dataKey, where, text, random);
        const other = createSecretKey(random.bytes(32));
        expect(() => openSecret(other, where, blob)).toThrow(Tampered);
        blob.writeUInt32BE(2, 1);
        expect(() => openSecret(key, where, blob)).toThrow(Tampered);
      }),
      { numRuns: RUNS },
    );
  });
});
