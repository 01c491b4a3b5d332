import { accept, type Decision, refuse } from '@cardea/event-store';
import {
  type Channel,
  type ChannelDeleted,
  type Manager,
  managedBy,
  publicFactsOf,
} from '../channel.ts';

export function deleteChannel(
  channel: Channel,
  manager: Manager,
): Decision<ChannelDeleted, 'channel_not_found'> {
  const existing = managedBy(channel, manager);
  if (existing === undefined) return refuse('channel_not_found');
  return accept({ type: 'ChannelDeleted', data: publicFactsOf(existing) });
}

/** Deletes the channel because its recipient no longer exists. */
export const deleteWithRecipient = (channel: Channel): Decision<ChannelDeleted, never> =>
  channel.status === 'standing'
    ? accept({ type: 'ChannelDeleted', data: publicFactsOf(channel) })
    : accept();
