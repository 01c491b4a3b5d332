import { describe, expect, it } from 'vitest';
import {
  activeKey,
  addFirstKey,
  type Keyring,
  keyrings,
  type NewKey,
  published,
} from '../keyring.ts';
import { announceKey, promoteKey } from '../rotate/rotate.ts';
import { revokeOthers } from './revoke.ts';

const NOW = new Date('2026-03-01T12:00:00.000Z');
const key = (kid: string) =>
  ({ kid, publicJwk: { kid }, private: { subject: `jwk:${kid}`, box: 'x' } }) as unknown as NewKey;
const afterwards = (ring: Keyring, decision: { readonly events: readonly unknown[] }): Keyring =>
  (decision.events as Parameters<typeof keyrings.evolve>[1][]).reduce(keyrings.evolve, ring);

/** A ring with one retired, one active and one announced key. */
function used(): Keyring {
  const first = afterwards(keyrings.initial, addFirstKey(key('a'), NOW, keyrings.initial));
  const second = afterwards(first, announceKey(key('b'), { now: NOW, activateAt: NOW }, first));
  const rotated = afterwards(second, promoteKey('b', NOW, second));
  return afterwards(rotated, announceKey(key('c'), { now: NOW, activateAt: NOW }, rotated));
}

describe('the revocation of all other signing keys', () => {
  it('leaves one key, which signs at once, whatever the others were', () => {
    expect(used().keys.map(({ state }) => state)).toEqual(['retired', 'active', 'pending']);
    const ring = afterwards(used(), revokeOthers(key('d'), NOW, used()));
    expect(activeKey(ring)?.kid).toBe('d');
    expect(published(ring)).toEqual([{ kid: 'd' }]);
  });

  it('lets nobody promote a key that was announced before', () => {
    const ring = afterwards(used(), revokeOthers(key('d'), NOW, used()));
    expect(promoteKey('c', NOW, ring)).toMatchObject({ accepted: false, reason: 'not_pending' });
  });

  it('needs a key that signs', () => {
    expect(revokeOthers(key('d'), NOW, keyrings.initial)).toMatchObject({
      accepted: false,
      reason: 'no_active_key',
    });
  });
});
