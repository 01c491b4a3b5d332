import { accept, type Decision, refuse } from '@cardea/event-store';
import {
  type Channel,
  type ChannelChanged,
  type ChannelFacts,
  type Manager,
  managedBy,
} from '../channel.ts';

export type ChannelChange = Partial<
  Pick<ChannelFacts, 'name' | 'url' | 'origin' | 'token' | 'min_severity' | 'enabled'>
>;

/**
 * Returns the channel with its changes. A URL or token in the request counts as changed. A new URL requires a new
 * token, so that the old token is not sent to another server.
 */
export function changeChannel(
  channel: Channel,
  manager: Manager,
  change: ChannelChange,
): Decision<ChannelChanged, 'channel_not_found'> {
  const before = managedBy(channel, manager);
  if (before === undefined) return refuse('channel_not_found');
  const { status: _status, ...facts } = before;
  const { name = facts.name, min_severity = facts.min_severity, enabled = facts.enabled } = change;
  const { url = facts.url, origin = facts.origin } = change;
  const { token = change.url === undefined ? facts.token : null } = change;
  const changed = [
    ...(name === facts.name ? [] : ['name']),
    ...(change.url === undefined ? [] : ['url']),
    ...(token === facts.token ? [] : ['token']),
    ...(min_severity === facts.min_severity ? [] : ['min_severity']),
    ...(enabled === facts.enabled ? [] : ['enabled']),
  ];
  if (changed.length === 0) return accept();
  const data = { ...facts, name, url, origin, token, min_severity, enabled, changed };
  return accept({ type: 'ChannelChanged', data });
}
