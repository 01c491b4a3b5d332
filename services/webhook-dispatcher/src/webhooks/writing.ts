/** The dependencies of every change of a webhook, and the step after its decision. */
import type { ServiceDependencies } from '@cardea/service';
import type { WebhookIndex } from './webhook-index.ts';

export type WriteDependencies = Pick<
  ServiceDependencies,
  'streams' | 'store' | 'command' | 'sealer' | 'settings' | 'random' | 'ids' | 'database'
> & { readonly index: WebhookIndex };

const INDEX_WAIT_MS = 2_000;

/** When it resolves, this process matches and sends with the new state. */
export async function settle(index: WebhookIndex, position: bigint | undefined): Promise<void> {
  if (position !== undefined) await index.reached(position, INDEX_WAIT_MS);
}
