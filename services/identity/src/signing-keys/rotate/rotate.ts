/**
 * Another key takes over in two steps: first it is announced, so that every verifier can fetch it; then it signs. The
 * previous key stays published until its tokens have expired.
 */
import { accept, type Decision, refuse } from '@cardea/event-store';
import {
  activeKey,
  added,
  type Keyring,
  type KeyringEvent,
  type NewKey,
  pendingKey,
  retired,
} from '../keyring.ts';

/** Only one key can be pending. A second announcement returns that one. */
export function announceKey(
  key: NewKey,
  { now, activateAt }: { readonly now: Date; readonly activateAt: Date },
  ring: Keyring,
): Decision<KeyringEvent, 'no_active_key' | 'announced_already'> {
  if (activeKey(ring) === undefined) return refuse('no_active_key');
  if (pendingKey(ring) !== undefined) return refuse('announced_already');
  return accept(added(key, now, activateAt));
}

export function promoteKey(
  kid: string,
  now: Date,
  ring: Keyring,
): Decision<KeyringEvent, 'not_pending'> {
  if (ring.keys.find((key) => key.kid === kid)?.state !== 'pending') return refuse('not_pending');
  const before = activeKey(ring);
  return accept<KeyringEvent>(
    { type: 'KeyActivated', data: { kid, at: now.toISOString() } },
    ...(before === undefined ? [] : [retired(before.kid, now)]),
  );
}
