/** The approval service: agents send requests, and users decide each request once. */
import type { MailTransport } from '@cardea/mail';
import {
  type Service,
  type ServiceDefinition,
  type ServiceDependencies,
  serviceOf,
} from '@cardea/service';
import { approvalRpcModule } from './approval-rpc/approval-rpc.module.ts';
import {
  type ChannelsDependencies,
  channelsModule,
  channelsStreams,
} from './channels/channels.module.ts';
import { deputiesModule, deputiesStreams } from './deputies/deputies.module.ts';
import { notificationsModule } from './notifications/notifications.module.ts';
import { pagesModule } from './pages/pages.module.ts';
import { requestsModule, requestsStreams } from './requests/requests.module.ts';

/** Options with which tests omit or shorten parts of the service. */
export type Options = {
  readonly withoutSweeper?: true;
  readonly pollWaitMs?: number;
  readonly mail?: MailTransport;
  /** Replaces name resolution and connections for channels. */
  readonly channelNetwork?: ChannelsDependencies['network'];
};

export const approvalWith = (options: Options = {}): ServiceDefinition => ({
  name: 'approval',
  streams: [...requestsStreams, ...channelsStreams, ...deputiesStreams],
  migrations: new URL('../migrations/', import.meta.url),
  build: (needs) => build(needs, options),
});

export const approvalService = approvalWith();

function build(needs: ServiceDependencies, options: Options): Service {
  const { withoutSweeper, pollWaitMs, mail, channelNetwork: network } = options;
  const requests = requestsModule({
    ...needs,
    onRequested: () => {
      notifications.wake();
      channels.wake();
    },
    onUserDeleted: async (tenantId, userId) => {
      await channels.deleteOf(tenantId, userId);
      await deputies.deleteOf(tenantId, userId);
    },
    expiresRequests: withoutSweeper !== true,
    ...(pollWaitMs === undefined ? {} : { pollWaitMs }),
  });
  const notifications = notificationsModule({ ...needs, ...requests.parts, transport: mail });
  const channels = channelsModule({ ...needs, ...requests.parts, network });
  const onChanged = () => notifications.wake();
  const deputies = deputiesModule({ ...needs, ...requests.parts, onChanged });
  return serviceOf([
    requests.module,
    notifications.module,
    channels.module,
    deputies.module,
    pagesModule({
      ...needs,
      ...requests.parts,
      endpoints: requests.endpoints,
      channels: channels.endpoints,
      deputies: deputies.endpoints,
    }),
    approvalRpcModule({ ...needs, ...requests.parts }),
  ]);
}
