/** Reserves a place in a queue after reading the current state of the queue's requests. */
import { accept, type Command, WriteContention } from '@cardea/event-store';
import { uuidFrom } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import { isOverdue, isUsable, requests } from '../approval-requests/request.ts';
import type { Counters } from '../counters.ts';
import { AGENT_PER_MINUTE_MAX, MINUTE_MS, OPEN_MAX } from '../limits.ts';
import { type EnqueueOutcome, enqueue, enqueueOutcome, type Found, isTwin } from './enqueue.ts';
import { entriesAt, type Queue, type QueueEntry, queueIdOf, queues } from './queue.ts';

/** The number of attempts on a queue that others change at the same time. After that the caller is told to retry. */
const LOOKS_MAX = 8;

export async function askQueue(
  approval: Pick<ServiceDependencies, 'streams'> & { readonly counters: Counters },
  of: { readonly agentId: string; readonly userId: string; readonly entry: QueueEntry },
  command: Command,
): Promise<Exclude<EnqueueOutcome, { readonly outcome: 'look_again' }>> {
  const { tenantId } = command.metadata;
  const id = queueIdOf({ tenantId, ...of });
  for (let look = 0; look < LOOKS_MAX; look++) {
    const { state, revision } = await approval.streams.load(queues, { tenantId, id });
    const found = await lookAt(approval, { tenantId, queue: state, entry: of.entry }, command.now);
    const ask = { entry: of.entry, now: command.now, found };
    const step = { ...command, id: uuidFrom('ask', command.id, String(revision), String(look)) };
    const decided = await approval.streams.decideOn(queues, id, step, (queue) =>
      enqueue(ask, queue),
    );
    if (decided.accepted) return counted(approval, { id, entry: of.entry }, command);
    const answer = enqueueOutcome(ask, decided.state);
    if (answer.outcome !== 'look_again' && answer.outcome === decided.reason) return answer;
  }
  throw new WriteContention('many ask one user at once');
}

/** Only new requests are counted. A request that exceeds the limit per minute is removed from the queue again. */
async function counted(
  { streams, counters }: Pick<ServiceDependencies, 'streams'> & { readonly counters: Counters },
  { id, entry }: { readonly id: string; readonly entry: QueueEntry },
  command: Command,
): Promise<Extract<EnqueueOutcome, { readonly outcome: 'enqueued' | 'rate_limited' }>> {
  const overMs = await counters.over(`new:${id}`, AGENT_PER_MINUTE_MAX, MINUTE_MS);
  if (overMs === undefined) return { outcome: 'enqueued' };
  const step = { ...command, id: uuidFrom('withdraw', command.id, entry.request_id) };
  await streams.decideOn(queues, id, step, (queue) =>
    accept({
      type: 'QueueChanged',
      data: {
        ...queue,
        open: queue.open.filter(({ request_id }) => request_id !== entry.request_id),
      },
    }),
  );
  return { outcome: 'rate_limited', until: new Date(command.now.getTime() + overMs) };
}

/** Reads the existing request that equals the new one, and all requests if there may be too many. */
async function lookAt(
  { streams }: Pick<ServiceDependencies, 'streams'>,
  of: { readonly tenantId: string; readonly queue: Queue; readonly entry: QueueEntry },
  now: Date,
): Promise<ReadonlyMap<string, Found>> {
  const entries = entriesAt(of.queue, now);
  const twins = entries.filter((each) => isTwin(of.entry, each));
  const wanted = entries.length >= OPEN_MAX ? entries : twins;
  const found = await Promise.all(
    wanted.map(async ({ request_id: id }): Promise<readonly [string, Found]> => {
      const { state } = await streams.load(requests, { tenantId: of.tenantId, id });
      if (state.status === 'none') return [id, { kind: 'unmade' }];
      if (isUsable(state, now)) return [id, { kind: 'usable' }];
      if (state.status === 'denied') return [id, { kind: 'denied', at: state.respondedAt }];
      const isOpen = state.status === 'pending' && !isOverdue(state, now);
      const expiresAt = state.facts.expires_at;
      return [id, isOpen ? { kind: 'pending', expiresAt } : { kind: 'over' }];
    }),
  );
  return new Map(found);
}
