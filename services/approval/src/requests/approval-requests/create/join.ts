/**
 * An agent that needs approval for a vend may also request it over REST. It then receives the request that vault made
 * for the vend.
 */
import type { ServiceDependencies } from '@cardea/service';
import { entriesAt, queueIdOf, queues } from '../../queues/queue.ts';
import type { Changes } from '../changes.ts';
import { readRequest } from '../read-request.ts';
import { type ExistingRequest, isUsable, VEND_ACTION } from '../request.ts';
import type { Wanted } from './create.ts';

/** The newest open request that vault made for this agent, user and service. Other parts of the body are ignored. */
export async function joinable(
  approval: Pick<ServiceDependencies, 'streams' | 'clock' | 'systemCommand'> & {
    readonly changes: Changes;
  },
  tenantId: string,
  { action, resource, agent_id: agentId, user_id: userId }: Wanted,
): Promise<ExistingRequest | undefined> {
  if (action !== VEND_ACTION || resource === undefined) return undefined;
  const id = queueIdOf({ tenantId, agentId, userId });
  const { state } = await approval.streams.load(queues, { tenantId, id });
  const now = approval.clock.now();
  const entries = entriesAt(state, now).filter(
    (entry) => entry.digest !== undefined && entry.resource === resource,
  );
  for (const { request_id } of entries.toReversed()) {
    const request = await readRequest(approval, tenantId, request_id);
    if (request.status === 'pending' || (request.status !== 'none' && isUsable(request, now))) {
      return request;
    }
  }
  return undefined;
}
