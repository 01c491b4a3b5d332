import { endpoint } from '@cardea/http';
import { isUuid } from '@cardea/runtime';
import Type from 'typebox';
import { channels } from '../channel.ts';
import { queueTest, tryAtOnce } from '../channel-queue.ts';
import {
  CHANNEL_ENDPOINTS,
  CHANNEL_REFUSALS,
  channelId,
  managerOf,
  notFound,
} from '../channel-shape.ts';
import type { ChannelDependencies } from '../writing.ts';
import { testChannel } from './test.ts';

export const testChannelRoute = (dependencies: ChannelDependencies) =>
  endpoint(
    {
      ...CHANNEL_ENDPOINTS,
      name: 'test_approval_channel',
      access: { class: 'things', applicationScope: 'account' },
      repeat: 'safe',
      summary: 'Send a test message to a channel, enabled or not',
      description:
        'Sends one test message to a channel, also to one that is disabled. 202 does not say that it was taken: read `last_sent_at` and `last_error` of `GET /api/v1/ciba/channels`.',
      method: 'post',
      path: '/api/v1/ciba/channels/{id}/test',
      params: channelId,
      body: Type.Object({}),
      input: { isOptional: true },
      ok: Type.Object({ status: Type.Literal('queued') }),
      response: { status: 202 },
      refusals: { ...CHANNEL_REFUSALS, channel_not_found: 404 },
    },
    async (request) => {
      const { tenantId } = request;
      const { id } = request.params;
      const manager = await managerOf(dependencies, request);
      if ('refused' in manager) return manager;
      if (!isUuid(id)) return notFound(id);
      const { state } = await dependencies.streams.load(channels, { tenantId, id });
      if (!testChannel(state, manager).accepted) return notFound(id);
      const sql = dependencies.database.tenant(tenantId);
      await queueTest(dependencies.database, { tenantId, id }, dependencies.clock.now());
      await tryAtOnce(sql, { tenantId, id });
      dependencies.wake();
      return { ok: { status: 'queued' as const } };
    },
  );
