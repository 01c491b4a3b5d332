/**
 * Sends messages about requests to channels: one at a time per channel, a second apart, and four at a time per tenant,
 * with turns between tenants. So an unresponsive chat server delays no other channel.
 */
import type { Outbound } from '@cardea/http';
import type { WakeSignal } from '@cardea/runtime';
import type { Loop } from '@cardea/service';
import { type ChannelKey, dueChannels } from '../channel-queue.ts';
import { QUEUE_POLL_MS, SENDS_MAX, SENDS_PER_TENANT_MAX } from '../limits.ts';
import { type TellDependencies, tellChannel } from './tell-channel.ts';

export type SenderDependencies = Omit<TellDependencies, 'outbound'> & {
  readonly outbound: Pick<Outbound, 'send'>;
};

/** The sends under way, by channel id. */
type Busy = Map<string, { readonly tenantId: string; readonly send: Promise<void> }>;

export const channelSender = (dependencies: SenderDependencies, newJobs: WakeSignal): Loop => ({
  name: 'approval.channels',
  leader: true,
  run: async (signal, tick) => {
    const busy: Busy = new Map();
    const stopping = {
      ...dependencies,
      outbound: {
        send: (request: Parameters<Outbound['send']>[0]) =>
          dependencies.outbound.send({ ...request, signal }),
      },
    };
    const begin = (channel: ChannelKey) => {
      const send = tellChannel(stopping, channel, signal).finally(() => {
        busy.delete(channel.id);
        newJobs.wake();
      });
      busy.set(channel.id, { tenantId: channel.tenantId, send });
    };
    while (!signal.aborted) {
      tick();
      const open = busy.size < SENDS_MAX ? await nextChannels(dependencies, busy) : [];
      for (const channel of open) begin(channel);
      await newJobs.rest(QUEUE_POLL_MS, signal);
    }
    await Promise.allSettled([...busy.values()].map(({ send }) => send));
  },
});

/** The channels that may send now, within each tenant's remaining concurrency. */
async function nextChannels(
  { database, clock }: SenderDependencies,
  busy: Busy,
): Promise<readonly ChannelKey[]> {
  const sends = new Map<string, number>();
  for (const { tenantId } of busy.values()) sends.set(tenantId, (sends.get(tenantId) ?? 0) + 1);
  const isFull = (tenantId: string) => (sends.get(tenantId) ?? 0) >= SENDS_PER_TENANT_MAX;
  const due = await dueChannels(database, clock.now(), {
    channels: [...busy.keys()],
    tenants: [...sends.keys()].filter(isFull),
    limit: SENDS_MAX - busy.size,
  });
  return due.filter(({ tenantId }) => {
    if (isFull(tenantId)) return false;
    sends.set(tenantId, (sends.get(tenantId) ?? 0) + 1);
    return true;
  });
}
