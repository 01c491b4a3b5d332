/** Steps that every change of tuples or of a model performs before and after its decision. */
import type { Command, Streams } from '@cardea/event-store';
import type { ServiceDependencies } from '@cardea/service';
import { type NoOpWriteEvent, noOpWrites, recordNoOpWrite } from '../no-op-writes/no-op-write.ts';
import type { Follower } from '../replicas/follower.ts';
import type { WriteBarrier } from '../replicas/write-barrier.ts';

export type WriteDependencies = {
  readonly streams: Streams;
  readonly command: ServiceDependencies['command'];
  readonly follower: Follower;
  readonly barrier: Pick<WriteBarrier, 'pass'>;
};

/** The longest wait for this process's own index. After it the write is still valid, and reads wait for the index. */
const SETTLE_MS = 2_000;

/** Records a change that had no effect. Returns the position. */
export async function recordRepeat(
  { streams }: Pick<WriteDependencies, 'streams'>,
  command: Command,
  event: NoOpWriteEvent,
): Promise<bigint> {
  const { position } = await streams.decideOn(noOpWrites, command.id, command, {
    isNew: true,
    decide: recordNoOpWrite(event),
  });
  if (position === undefined) throw new Error('a command was carried out under two ids');
  return position;
}

/** When this resolves, no process answers the tenant from a state before the position. */
export async function settle(
  { follower, barrier }: Pick<WriteDependencies, 'follower' | 'barrier'>,
  tenantId: string,
  position: bigint,
): Promise<void> {
  follower.acknowledge(tenantId, position);
  await Promise.all([follower.reached(position, SETTLE_MS), barrier.pass(position)]);
}
