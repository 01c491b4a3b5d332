/** Publishes changes of channels: who made them, and the origin of the URL. */
import type { approvalEvents } from '@cardea/contracts';
import { relay } from '@cardea/event-bus';
import type { ChannelEvent, ChannelFacts } from './channel.ts';
import { channelIdOf } from './channels.projection.ts';

export const channelsRelay = relay<ChannelEvent, typeof approvalEvents>({
  ChannelCreated: (event) => ({ type: 'channel.created', data: told(event) }),
  ChannelChanged: (event) => ({
    type: 'channel.changed',
    data: { ...told(event), changed: [...event.data.changed] },
  }),
  ChannelDeleted: (event) => ({ type: 'channel.deleted', data: told(event) }),
});

const told = ({
  streamId,
  data: { format, origin, recipient },
}: {
  readonly streamId: string;
  readonly data: Pick<ChannelFacts, 'format' | 'origin' | 'recipient'>;
}) => ({ channel_id: channelIdOf({ streamId }), format, origin, recipient });
