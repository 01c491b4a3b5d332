import { endpoint } from '@cardea/http';
import { isUuid } from '@cardea/runtime';
import Type from 'typebox';
import { SeverityShape } from '../../requests/requests.module.ts';
import { channels, locationOf, managedBy } from '../channel.ts';
import { tryAtOnce } from '../channel-queue.ts';
import { lastSent } from '../channel-rows.ts';
import {
  actorOf,
  CHANNEL_ENDPOINTS,
  CHANNEL_REFUSALS,
  channelId,
  channelShape,
  faultsOf,
  invalidUrl,
  managerOf,
  nameField,
  notFound,
  readUrl,
  shapeOf,
  tokenField,
  urlField,
} from '../channel-shape.ts';
import { CHANNELS_TABLE } from '../channels.projection.ts';
import type { ChannelDependencies } from '../writing.ts';
import { type ChannelChange, changeChannel } from './change.ts';

const body = Type.Object(
  {
    name: Type.Optional(nameField),
    url: Type.Optional(urlField),
    token: Type.Optional(Type.Union([tokenField, Type.Null()])),
    min_severity: Type.Optional(SeverityShape),
    enabled: Type.Optional(Type.Boolean()),
  },
  { minProperties: 1 },
);

export const changeChannelRoute = (dependencies: ChannelDependencies) =>
  endpoint(
    {
      ...CHANNEL_ENDPOINTS,
      name: 'change_approval_channel',
      access: { class: 'settings', stepUp: 'users' },
      repeat: 'safe',
      summary: 'Change a channel, enable or disable it',
      description:
        'Changes the name, the address, the token or the lowest severity of a channel, or enables or disables it. What the body does not name stays, but a new `url` drops the `token` unless one is sent with it.',
      method: 'patch',
      path: '/api/v1/ciba/channels/{id}',
      params: channelId,
      body,
      ok: channelShape,
      refusals: {
        ...CHANNEL_REFUSALS,
        invalid_request: 400,
        invalid_url: 400,
        channel_not_found: 404,
      },
      consistency: { waitsFor: [CHANNELS_TABLE] },
    },
    async (request) => {
      const { body, tenantId } = request;
      const { id } = request.params;
      const manager = await managerOf(dependencies, request);
      if ('refused' in manager) return manager;
      if (!isUuid(id)) return notFound(id);
      const { state } = await dependencies.streams.load(channels, { tenantId, id });
      const channel = managedBy(state, manager);
      if (channel === undefined) return notFound(id);
      const details = faultsOf(body, channel.format);
      if (details.length > 0) return { refused: 'invalid_request', details };
      const verdict =
        body.url === undefined
          ? undefined
          : readUrl(body.url, channel.format, dependencies.settings);
      if (verdict !== undefined && 'rule' in verdict) return invalidUrl(verdict.rule);

      const at = { id, tenantId, owner: channel.owner };
      const sealed = (field: 'url' | 'token', text: string | null | undefined) =>
        typeof text === 'string'
          ? dependencies.sealer.seal(tenantId, locationOf(at, field), text)
          : text;
      const [url, token] = await Promise.all([
        sealed('url', body.url),
        sealed('token', body.token),
      ]);
      // The person was deleted a moment ago.
      if (url === 'erased' || token === 'erased') return notFound(id);
      const change: ChannelChange = {
        ...(body.name === undefined ? {} : { name: body.name }),
        ...(url == null || verdict === undefined ? {} : { url, origin: verdict.origin }),
        ...(token === undefined ? {} : { token }),
        ...(body.min_severity === undefined ? {} : { min_severity: body.min_severity }),
        ...(body.enabled === undefined ? {} : { enabled: body.enabled }),
      };
      const command = await dependencies.command(request, actorOf(manager, channel.owner));
      const decided = await dependencies.streams.decideOn(channels, id, command, (present) =>
        changeChannel(present, manager, change),
      );
      if (!decided.accepted || decided.state.status !== 'standing') return notFound(id);
      await tryAtOnce(dependencies.database.tenant(tenantId), { tenantId, id });
      dependencies.wake();
      const ok = shapeOf(id, decided.state, await lastSent(dependencies.database, tenantId, id));
      return { ok, wrote: decided.position };
    },
  );
