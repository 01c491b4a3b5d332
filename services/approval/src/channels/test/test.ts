import { accept, type Decision, refuse } from '@cardea/event-store';
import { type Channel, type Manager, managedBy } from '../channel.ts';

/**
 * A test message changes nothing, so no event is recorded. A person who may change the channel may test it, even while
 * it is disabled.
 */
export const testChannel = (
  channel: Channel,
  manager: Manager,
): Decision<never, 'channel_not_found'> =>
  managedBy(channel, manager) === undefined ? refuse('channel_not_found') : accept();
