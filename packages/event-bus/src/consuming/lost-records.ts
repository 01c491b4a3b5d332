/** Partitions whose next records the topic has lost: how that is stored, and where they continue. */
import type { PartitionEnds } from '../partition-ends.ts';
import type { At } from './applying.ts';
import type { Lane } from './consumer-positions.ts';
import { replayOf, resumptionOf } from './replays.ts';

export type LostRecords = {
  /**
   * Finds and stores the offset at which such a partition continues. Undefined until a replay has published the lost
   * records again.
   */
  resume(end: PartitionEnds): Promise<bigint | undefined>;
  /** Stores that a partition's next records are lost. Only `resume` lets it continue. */
  lose(lane: Lane): Promise<void>;
};

/** An offset beyond the end of any topic. */
const OFFSET_LOST = 2n ** 62n;

export const lostRecords = ({ consumer, needs, positions, late, known }: At): LostRecords => {
  const { database, log } = needs;
  return {
    resume: async (end) => {
      await late.flush();
      const stored = await positions.readLane(database.system, end);
      if (stored === undefined) return undefined;
      const next = resumptionOf(await replayOf(needs.bus, end.topic), end, stored);
      if (next === undefined) return undefined;
      const to = { from: stored.offset, offset: next - 1n };
      await positions.reset(database.system, end, to);
      known.forget();
      log.warn(
        { consumer: consumer.name, topic: end.topic, partition: end.partition },
        'records that were lost are published again; the partition goes on',
      );
      return next;
    },
    lose: async (lane) => {
      await late.flush();
      const stored = await positions.readLane(database.system, lane);
      if (stored === undefined || stored.offset === OFFSET_LOST) return;
      await positions.reset(database.system, lane, { from: stored.offset, offset: OFFSET_LOST });
      known.forget();
    },
  };
};
