import { endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import type { IdentityFacts } from '../../requests/requests.module.ts';
import { managedRows } from '../channel-rows.ts';
import { CHANNEL_ENDPOINTS, CHANNEL_REFUSALS, channelShape, managerOf } from '../channel-shape.ts';
import { CHANNELS_TABLE } from '../channels.projection.ts';

type ListDependencies = Pick<ServiceDependencies, 'database' | 'revocations'> & {
  readonly identityFacts: IdentityFacts;
};

export const listChannelsRoute = (dependencies: ListDependencies) =>
  endpoint(
    {
      ...CHANNEL_ENDPOINTS,
      name: 'list_approval_channels',
      access: { class: 'things', applicationScope: 'account' },
      summary: 'Channels that the caller manages, oldest first',
      description:
        'Lists the channels of the caller and, for administrators, those of the tenant. `last_error` says why the last message was not taken. Neither `url` nor `token` is shown.',
      method: 'get',
      path: '/api/v1/ciba/channels',
      ok: Type.Object({ channels: Type.Array(channelShape) }, { additionalProperties: false }),
      refusals: CHANNEL_REFUSALS,
      consistency: { reads: [CHANNELS_TABLE] },
    },
    async (request) => {
      const manager = await managerOf(dependencies, request);
      if ('refused' in manager) return manager;
      const rows = await managedRows(dependencies.database, request.tenantId, manager);
      return { ok: { channels: [...rows] } };
    },
  );
