import { applyOrSetAside, isOutage, parkedPositions } from '@cardea/log-follower';
import { errorCode } from '@cardea/runtime';
import type { Consumer } from '../bus.ts';
import { type At, applyTogether, passOver } from './applying.ts';
import { consumerPositions, type LanePosition } from './consumer-positions.ts';
import { knownPositions } from './known-positions.ts';
import type { Opened } from './lane-moves.ts';
import { latePositions } from './late-positions.ts';
import { type LostRecords, lostRecords } from './lost-records.ts';
import { openAll, putAwayOpened, skippedUpTo } from './opening.ts';
import type { ConsumerDependencies, Looked } from './records.ts';
import { release } from './releasing.ts';

/**
 * Applies records of any adapter. Effects and positions of the lanes commit together, so an event takes effect once,
 * however often and by whichever replica it is delivered. The lanes move only from the positions that this replica
 * assumes. A replica that was suspended is refused, reads the tables and finds its records applied. Work that needs
 * more than the transaction's connection is prepared before, and again after such a refusal. If nothing takes effect
 * there is no transaction, and the position is stored later.
 */
export type ConsumerCore = LostRecords & {
  /** Throws when the records have to be tried again. */
  apply(batch: Looked, onTurn?: () => void): Promise<void>;
  /** Stores pending positions, before a partition is given up and at the stop. */
  settle(): Promise<void>;
  /** Last applied offset of each partition, by `laneKey`. */
  offsets(): Promise<ReadonlyMap<string, LanePosition>>;
  /** Names of the parked streams. */
  parked(): Promise<readonly string[]>;
  /** The faults that readiness shows. They are read from the tables when something may have changed. */
  parkedReason(): Promise<string | undefined>;
  /** Call it when another process may have parked or released streams. */
  lookAgain(): void;
  /** Applies a parked stream's events in order and ends its parking. Throws when one of them fails again. */
  release(stream: string): Promise<void>;
};

/** How often parked streams are counted, since one may be repaired without a notice. */
const PARKED_LOOK_MS = 60_000;

export const consumerCore = (consumer: Consumer, needs: ConsumerDependencies): ConsumerCore => {
  const { database, clock, log } = needs;
  const positions = consumerPositions(needs.schema, consumer.name);
  const known = knownPositions(consumer.topics);
  const parked = { schema: needs.schema, owner: `consumer:${consumer.name}` };
  const late = latePositions({
    clock,
    log: log.child({ consumer: consumer.name }),
    store: async (moved) => {
      await positions.storeLate(database.system, moved);
      known.moved(moved);
    },
  });
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  let reason: string | undefined;
  const lookAgain = (): void => {
    lookedAtMs = Number.NEGATIVE_INFINITY;
  };
  const at: At = { consumer, needs, positions, parked, late, known, onParked: lookAgain };

  const applyOrSplit = (records: readonly Opened[], onTurn: () => void): Promise<void> =>
    applyOrSetAside(records, {
      apply: async (some) => {
        onTurn();
        await applyTogether(at, some, new Map());
      },
      setAside: async (record, error) => {
        try {
          await applyTogether(at, [record], new Map([[record, errorCode(error)]]));
        } catch (failure) {
          if (isOutage(failure)) throw failure;
          // Even parking the record failed. As a dead letter it does not block other records.
          await putAwayOpened(at, record, errorCode(failure));
          const { position = '0', part = 0 } = record.event ?? {};
          const skipped = { position: BigInt(position), part };
          passOver(at, [{ ...record, event: undefined, skipped }]);
        }
      },
    });
  const parkedNow = async (): Promise<readonly string[]> => [
    ...(await parkedPositions(database.system, parked)).keys(),
  ];

  return {
    apply: async ({ records, skipped }, onTurn = () => {}) => {
      const opened = [...(await openAll(at, records)), ...skipped.map(skippedUpTo)];
      if (opened.some(({ event }) => event !== undefined)) await applyOrSplit(opened, onTurn);
      else passOver(at, opened);
    },
    settle: late.flush,
    ...lostRecords(at),
    offsets: () => positions.read(database.system, consumer.topics),
    parked: parkedNow,
    parkedReason: async () => {
      const now = clock.monotonicMs();
      if (now - lookedAtMs < PARKED_LOOK_MS) return reason;
      lookedAtMs = now;
      const { length } = await parkedNow().catch((error: unknown) => {
        lookAgain();
        throw error;
      });
      reason = length === 0 ? undefined : `parked streams: ${length}`;
      return reason;
    },
    lookAgain,
    release: (stream) => release(at, stream),
  };
};
