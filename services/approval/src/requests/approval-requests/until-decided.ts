/** Delays a response until its request is decided or expires, or until the caller has waited long enough. */
import type { Principal } from '@cardea/auth';
import type { Request } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import type { Changes } from './changes.ts';
import type { Polls } from './polls.ts';
import { readRequest } from './read-request.ts';
import { type ApprovalRequest, type ExistingRequest, requests } from './request.ts';

type WaitDependencies = Pick<ServiceDependencies, 'streams' | 'clock' | 'systemCommand'> & {
  readonly changes: Changes;
  readonly polls: Polls;
};

export async function untilDecided(
  needs: WaitDependencies,
  { tenantId, principal, signal, draining, endTurn }: Request<unknown, unknown, unknown, Principal>,
  { id, waitMs }: { readonly id: string; readonly waitMs: number },
): Promise<ExistingRequest | 'too_many_polls'> {
  const found = await needs.polls.wait<ApprovalRequest>({
    id,
    tenantId,
    principal: `${tenantId} ${principal.kind} ${principal.id}`,
    waitMs,
    read: () => readRequest(needs, tenantId, id),
    look: async () => (await needs.streams.load(requests, { tenantId, id })).state,
    isOver: ({ status }) => status !== 'pending',
    endsAt: (request) =>
      request.status === 'pending' ? new Date(request.facts.expires_at) : undefined,
    onWait: endTurn,
    signal,
    draining,
  });
  if (found !== 'too_many_polls' && found.status === 'none') {
    throw new Error('a request that was found is gone');
  }
  return found as ExistingRequest | 'too_many_polls';
}
