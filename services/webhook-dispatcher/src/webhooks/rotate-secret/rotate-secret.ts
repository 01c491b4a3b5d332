import type { Sealed } from '@cardea/crypto';
import { accept, type Decision, refuse } from '@cardea/event-store';
import { type SecretRotated, seenBy, type Webhook } from '../webhook.ts';

export function rotateSecret(
  webhook: Webhook,
  keys: Sealed,
  appId: string | undefined,
): Decision<SecretRotated, 'webhook_not_found'> {
  const standing = seenBy(webhook, appId);
  if (standing === undefined) return refuse('webhook_not_found');
  return accept({ type: 'SecretRotated', data: { version: standing.keyVersion + 1, keys } });
}
