/** Channels: chats and phones that are notified of requests, in addition to mail and webhooks. */
import { type OutboundDependencies, outbound } from '@cardea/http';
import { wakeSignal } from '@cardea/runtime';
import type { Module, ServiceDependencies } from '@cardea/service';
import type { RequestParts } from '../requests/requests.module.ts';
import { changeChannelRoute } from './change/change.route.ts';
import { channels } from './channel.ts';
import { channelsTable } from './channels.projection.ts';
import { createChannelRoute } from './create/create.route.ts';
import { deleteChannelRoute } from './delete/delete.route.ts';
import { deleteWithRecipient } from './delete/delete.ts';
import { channelSender } from './delivery/channel-sender.ts';
import { SEND_WAIT_MS } from './limits.ts';
import { listChannelsRoute } from './list/list.route.ts';
import { channelsRelay } from './relay.ts';
import { testChannelRoute } from './test/test.route.ts';

export type { ChannelShape } from './channel-shape.ts';

export type ChannelsDependencies = Pick<
  ServiceDependencies,
  | 'streams'
  | 'command'
  | 'systemCommand'
  | 'sealer'
  | 'settings'
  | 'ids'
  | 'database'
  | 'revocations'
  | 'clock'
  | 'log'
> &
  Pick<RequestParts, 'identityFacts' | 'changes'> & {
    /** Replaces name resolution and connections in tests. */
    readonly network?: Pick<OutboundDependencies, 'dialer' | 'resolver'> | undefined;
  };

/** The endpoints that the page of a person's own channels shows and calls. */
export type ChannelEndpoints = {
  readonly list: ReturnType<typeof listChannelsRoute>;
  readonly create: ReturnType<typeof createChannelRoute>;
  readonly change: ReturnType<typeof changeChannelRoute>;
  readonly remove: ReturnType<typeof deleteChannelRoute>;
  readonly test: ReturnType<typeof testChannelRoute>;
};

export function channelsModule(dependencies: ChannelsDependencies): {
  readonly module: Module;
  readonly endpoints: ChannelEndpoints;
  /** Called when there may be messages to send. */
  readonly wake: () => void;
  /** Deletes the channels that only serve one user's requests. */
  readonly deleteOf: (tenantId: string, userId: string) => Promise<void>;
} {
  const { settings, clock, network = {} } = dependencies;
  const client = outbound({
    env: settings.ENV,
    allowedCidrs: settings.WEBHOOK_ALLOWED_CIDRS,
    wholeWaitMs: SEND_WAIT_MS,
    ...network,
  });
  const newJobs = wakeSignal(clock);
  const shared = { ...dependencies, wake: newJobs.wake };
  const endpoints: ChannelEndpoints = {
    list: listChannelsRoute(shared),
    create: createChannelRoute(shared),
    change: changeChannelRoute(shared),
    remove: deleteChannelRoute(shared),
    test: testChannelRoute(shared),
  };
  const module: Module = {
    endpoints: Object.values(endpoints),
    projections: [channelsTable],
    relay: channelsRelay,
    loops: [channelSender({ ...dependencies, outbound: client }, newJobs)],
    stop: () => client.close(),
  };
  const deleteOf = async (tenantId: string, userId: string): Promise<void> => {
    const { rows } = await dependencies.database.system.query<{ id: string }>(
      'SELECT id FROM approval.channels WHERE tenant_id = $1 AND recipient = $2',
      [tenantId, userId],
    );
    for (const { id } of rows) {
      const command = dependencies.systemCommand(tenantId, 'delete channel', id);
      await dependencies.streams.decideOn(channels, id, command, deleteWithRecipient);
    }
  };
  return { module, endpoints, wake: newJobs.wake, deleteOf };
}

export const channelsStreams = [channels];
