/**
 * Positions that moved over records without effect. They are stored with the next effect, or a second later by a
 * statement that only raises. After a crash before that, the consumer reads those records again. A position never
 * passes a record whose effect has not committed, because it is passed here after the effects of all earlier records.
 */
import { type Clock, errorCode, failpoint, type Logger } from '@cardea/runtime';
import { type Lane, type LanePosition, laneKey, raised } from './consumer-positions.ts';

export type Moved = Lane & LanePosition;

export type LatePositions = {
  pass(moved: readonly Moved[]): void;
  /** Pending positions, for a statement that stores them together with an effect. */
  readonly waiting: readonly Moved[];
  /** Call it after the commit of what `waiting` returned. */
  stored(moved: readonly Moved[]): void;
  /** Stores at once. A failure is logged, and tried again a second later. */
  flush(): Promise<void>;
};

/** The maximum age of pending positions, on which retention and the lag metrics rely. */
const STORE_AFTER_MS = 1000;

export const latePositions = (needs: {
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Logger;
  readonly store: (moved: readonly Moved[]) => Promise<void>;
}): LatePositions => {
  const waiting = new Map<string, Moved>();
  let cancel: (() => void) | undefined;
  let storing: Promise<void> | undefined;

  const stored = (moved: readonly Moved[]): void => {
    for (const each of moved) {
      if (waiting.get(laneKey(each)) === each) waiting.delete(laneKey(each));
    }
  };
  const storeAll = async (): Promise<void> => {
    const moved = [...waiting.values()];
    try {
      await failpoint('position.before_store');
      await needs.store(moved);
      stored(moved);
    } catch (error) {
      needs.log.debug({ code: errorCode(error) }, 'positions could not be stored');
    }
  };
  const flush = async (): Promise<void> => {
    cancel?.();
    cancel = undefined;
    await storing;
    if (waiting.size === 0) return;
    storing = storeAll().finally(() => {
      storing = undefined;
      schedule();
    });
    await storing;
  };
  const schedule = (): void => {
    if (waiting.size === 0) return;
    cancel ??= needs.clock.after(STORE_AFTER_MS, () => {
      cancel = undefined;
      void flush();
    });
  };
  return {
    pass: (moved) => {
      for (const each of moved) {
        const before = waiting.get(laneKey(each));
        waiting.set(
          laneKey(each),
          before === undefined ? each : { ...each, ...raised(before, each) },
        );
      }
      schedule();
    },
    get waiting() {
      return [...waiting.values()];
    },
    stored,
    flush,
  };
};
