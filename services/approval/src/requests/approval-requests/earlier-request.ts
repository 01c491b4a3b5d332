/** Finds a request that was made earlier with the same `Idempotency-Key`. */
import type { Request } from '@cardea/http';
import { newId, requestHash, reusedKey, type ServiceDependencies } from '@cardea/service';
import type { Changes } from './changes.ts';
import { readRequest } from './read-request.ts';
import type { ExistingRequest } from './request.ts';

type RepeatDependencies = Pick<
  ServiceDependencies,
  'streams' | 'clock' | 'systemCommand' | 'sealer' | 'ids'
> & { readonly changes: Changes };

type Made = Request<unknown, unknown, unknown>;

export const bodyHashOf = (approval: Pick<ServiceDependencies, 'sealer'>, request: Made) =>
  requestHash(approval, request, ['body']);

/** Refuses the repeat if the key was used with another body. */
export async function earlierRequest(
  approval: RepeatDependencies,
  request: Made,
): Promise<ExistingRequest | NonNullable<ReturnType<typeof reusedKey>> | undefined> {
  if (request.idempotency === undefined) return undefined;
  const id = newId(approval, request, 'approval request');
  const earlier = await readRequest(approval, request.tenantId, id);
  if (earlier.status === 'none') return undefined;
  const first = earlier.facts.body_hash ?? null;
  return reusedKey(await bodyHashOf(approval, request), first) ?? earlier;
}
