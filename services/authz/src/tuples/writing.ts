/** What every change of a tuple does before and after its decision. */
import type { Command, Streams } from '@cardea/event-store';
import type { ServiceDependencies } from '@cardea/service';
import { type AttemptEvent, attempt, attempts } from '../attempts/attempt.ts';
import type { Follower } from '../engine/follower.ts';

export type WriteDependencies = {
  readonly streams: Streams;
  readonly command: ServiceDependencies['command'];
  readonly follower: Follower;
};

/**
 * Longest wait for this process's own index; after it the write still holds, and reads wait for the index.
 */
const SETTLE_MS = 2_000;

/** Records a change that had no effect; returns the position. */
export async function recordRepeat(
  { streams }: Pick<WriteDependencies, 'streams'>,
  command: Command,
  event: AttemptEvent,
): Promise<bigint> {
  const { position } = await streams.decideOnNew(attempts, command.id, command, attempt(event));
  if (position === undefined) throw new Error('a command was carried out under two ids');
  return position;
}

/** From now on this process answers the tenant with nothing from before the position. */
export async function settle(
  { follower }: Pick<WriteDependencies, 'follower'>,
  tenantId: string,
  position: bigint,
): Promise<void> {
  follower.acknowledge(tenantId, position);
  await follower.reached(position, SETTLE_MS);
}
