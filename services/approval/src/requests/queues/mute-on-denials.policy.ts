/** An agent whose asking was denied three times within an hour asks that user nothing for an hour. */
import type { Policy, ServiceNeeds } from '@cardea/service';
import { requests } from '../approval-requests/request.ts';
import { countDenial } from './mute.ts';
import { queueIdOf, queues } from './queue.ts';

export const muteOnDenials = ({
  streams,
  systemCommand,
}: Pick<ServiceNeeds, 'streams' | 'systemCommand'>): Policy => ({
  name: 'mute_on_denials',
  on: ['ApprovalDenied'],
  handle: async ({ id: eventId, streamId, metadata, time }) => {
    const { tenantId } = metadata;
    const id = streamId.slice(requests.noun.length + 1);
    const { state } = await streams.load(requests, { tenantId, id });
    if (state.status === 'none') return;
    const { agent_id: agentId, user_id: userId, origin } = state.facts;
    // What people asked for themselves is no fault of the agent.
    if (origin !== 'agent' && origin !== 'vend') return;
    const queue = queueIdOf({ tenantId, agentId, userId });
    const at = time.toISOString();
    await streams.decideOn(queues, queue, systemCommand(tenantId, 'denial', eventId), (present) =>
      countDenial(new Date(at), present),
    );
  },
});
