/** An agent whose requests were denied three times within an hour may send that user none for an hour. */
import type { Recorded } from '@cardea/event-store';
import { policy, type ServiceDependencies } from '@cardea/service';
import { type RequestEvent, requests } from '../approval-requests/request.ts';
import { addresseeId } from '../approval-requests/who-decides.ts';
import { countDenial } from './mute.ts';
import { queueIdOf, queues } from './queue.ts';

type MutingDependencies = Pick<ServiceDependencies, 'streams' | 'systemCommand'>;

export const muteOnDenials = (needs: MutingDependencies) =>
  policy<RequestEvent>()({
    name: 'mute_on_denials',
    on: {
      ApprovalDenied: (event) => count(needs, event),
    },
  });

async function count(
  { streams, systemCommand }: MutingDependencies,
  { id: eventId, streamId, metadata, time }: Recorded<RequestEvent, 'ApprovalDenied'>,
): Promise<void> {
  const { tenantId } = metadata;
  const id = streamId.slice(requests.noun.length + 1);
  const { state } = await streams.load(requests, { tenantId, id });
  if (state.status === 'none') return;
  const { agent_id: agentId, origin } = state.facts;
  // Requests that users made themselves do not count against the agent.
  if (origin !== 'agent' && origin !== 'vend') return;
  const queue = queueIdOf({ tenantId, agentId, userId: addresseeId(state.facts) });
  const at = time.toISOString();
  await streams.decideOn(queues, queue, systemCommand(tenantId, 'denial', eventId), (present) =>
    countDenial(new Date(at), present),
  );
}
