import { accept, type Decision, refuse } from '@cardea/event-store';
import type { Channel, ChannelCreated, ChannelFacts } from '../channel.ts';

/** Creates the channel. A repeat under the same key finds the channel that the first request created. */
export const createChannel = (
  channel: Channel,
  facts: ChannelFacts,
): Decision<ChannelCreated, 'exists'> =>
  channel.status === 'absent' ? accept({ type: 'ChannelCreated', data: facts }) : refuse('exists');
