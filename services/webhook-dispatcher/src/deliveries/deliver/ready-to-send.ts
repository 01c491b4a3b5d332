/**
 * A claimed delivery with everything that its attempt needs: the current target, the body, and a place at its origin.
 */
import type { GiveBack } from '@cardea/runtime';
import type { Target } from '../../webhooks/webhooks.module.ts';
import type { CancelCause } from '../delivery.ts';
import type { Claimed } from '../queue.ts';
import type { Concurrency } from './concurrency.ts';
import { prepare, type SendDependencies } from './send.ts';

type Ready =
  | 'not_now'
  | { readonly cancel: CancelCause }
  | {
      readonly prepared: { readonly target: Target; readonly body: string };
      readonly leaveOrigin: GiveBack;
    };

export async function readyToSend(
  needs: SendDependencies,
  slots: Concurrency,
  claimed: Claimed,
): Promise<Ready> {
  const prepared = await prepare(needs, claimed);
  if (prepared === 'behind') return 'not_now';
  if ('cancel' in prepared) return prepared;
  const { webhookId, tenantId } = claimed;
  const attempt = { webhookId, tenantId, origin: prepared.target.origin };
  const entered = slots.enterOriginNow(attempt);
  if (entered !== undefined) return { prepared, leaveOrigin: entered };
  const leaveOrigin = await slots.enterOrigin(attempt);
  if (leaveOrigin === undefined) return 'not_now';
  // The webhook may have changed while its delivery waited.
  const again = await prepare(needs, claimed).catch((error: unknown) => {
    leaveOrigin();
    throw error;
  });
  if (again !== 'behind' && 'target' in again && again.target.origin === attempt.origin) {
    return { prepared: again, leaveOrigin };
  }
  leaveOrigin();
  return again !== 'behind' && 'cancel' in again ? again : 'not_now';
}
