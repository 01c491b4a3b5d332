import { accept, type Decision, refuse } from '@cardea/event-store';
import { type Channel, type Manager, managedBy } from '../channel.ts';

/** A test changes nothing, so nothing is recorded; it is for whom may change the channel, also while it is disabled. */
export const testChannel = (
  channel: Channel,
  manager: Manager,
): Decision<never, 'channel_not_found'> =>
  managedBy(channel, manager) === undefined ? refuse('channel_not_found') : accept();
