import { endpoint } from '@cardea/http';
import { isUuid } from '@cardea/runtime';
import Type from 'typebox';
import { channels, managedBy } from '../channel.ts';
import {
  actorOf,
  CHANNEL_ENDPOINTS,
  CHANNEL_REFUSALS,
  channelId,
  managerOf,
  notFound,
} from '../channel-shape.ts';
import { CHANNELS_TABLE } from '../channels.projection.ts';
import type { ChannelDependencies } from '../writing.ts';
import { deleteChannel } from './delete.ts';

export const deleteChannelRoute = (dependencies: ChannelDependencies) =>
  endpoint(
    {
      ...CHANNEL_ENDPOINTS,
      name: 'delete_approval_channel',
      access: { class: 'settings', stepUp: 'users' },
      repeat: 'safe',
      summary: 'Delete a channel; nothing is told there afterwards',
      description:
        'Deletes a channel. Nothing is told there afterwards, requests that wait for another attempt included.',
      method: 'delete',
      path: '/api/v1/ciba/channels/{id}',
      params: channelId,
      ok: Type.Object({ status: Type.Literal('channel deleted') }),
      refusals: { ...CHANNEL_REFUSALS, channel_not_found: 404 },
      consistency: { waitsFor: [CHANNELS_TABLE] },
    },
    async (request) => {
      const { id } = request.params;
      const manager = await managerOf(dependencies, request);
      if ('refused' in manager) return manager;
      if (!isUuid(id)) return notFound(id);
      const { tenantId } = request;
      const { state } = await dependencies.streams.load(channels, { tenantId, id });
      const owner = managedBy(state, manager)?.owner ?? null;
      const command = await dependencies.command(request, actorOf(manager, owner));
      const decided = await dependencies.streams.decideOn(channels, id, command, (channel) =>
        deleteChannel(channel, manager),
      );
      if (!decided.accepted) return notFound(id);
      return { ok: { status: 'channel deleted' as const }, wrote: decided.position };
    },
  );
