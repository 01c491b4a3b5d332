/**
 * Replaces keys that may be compromised: a new key signs at once, and all others are removed, including announced ones.
 * Tokens that they signed are no longer accepted.
 */
import { accept, type Decision, refuse } from '@cardea/event-store';
import { activeKey, added, type Keyring, type KeyringEvent, type NewKey } from '../keyring.ts';

export function revokeOthers(
  key: NewKey,
  now: Date,
  ring: Keyring,
): Decision<KeyringEvent, 'no_active_key'> {
  if (activeKey(ring) === undefined) return refuse('no_active_key');
  const at = now.toISOString();
  return accept<KeyringEvent>(
    added(key, now),
    { type: 'KeyActivated', data: { kid: key.kid, at } },
    ...ring.keys.map(({ kid }): KeyringEvent => ({ type: 'KeyRemoved', data: { kid } })),
  );
}
