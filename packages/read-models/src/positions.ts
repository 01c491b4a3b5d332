/**
 * How far each projection of a service has come, as this process knows it: at once for those that it runs
 * itself, by one notice per batch for the others, and by a look at the checkpoints while someone waits.
 */
import { type Clock, expectNoTransaction, type Logger, outsideTransactions } from '@cardea/runtime';
import { POSITIONS_CHANNEL } from './batch-statement.ts';
import type { Database } from './database.ts';
import { errorCode } from './database-errors.ts';
import type { LeaderLocks } from './leader-locks.ts';
import type { Positions } from './projection.ts';

const WAITERS_MAX = 10_000;
const LOOK_MS = 250;

/** Positions that the process's own runners move on. */
export interface PositionBoard extends Positions {
  /** Never goes back. */
  advance(projection: string, position: bigint): void;
  close(): Promise<void>;
}

export type PositionsOptions = {
  readonly schema: string;
  readonly database: Database;
  readonly leader: LeaderLocks;
  readonly clock: Clock;
  readonly log: Logger;
};

type Waiter = {
  readonly projections: readonly string[];
  readonly position: bigint;
  readonly wake: () => void;
};

export function openPositions(options: PositionsOptions): PositionBoard {
  const { schema, database, clock, log } = options;
  const known = new Map<string, bigint>();
  const waiters = new Set<Waiter>();
  const closing = new AbortController();
  let looking: Promise<void> | undefined;

  const passed = (projection: string): bigint => known.get(projection) ?? 0n;
  const isThere = ({ projections, position }: Omit<Waiter, 'wake'>): boolean =>
    projections.every((projection) => passed(projection) >= position);

  const advance = (projection: string, position: bigint): void => {
    if (position <= passed(projection) && known.has(projection)) return;
    known.set(projection, position);
    for (const waiter of [...waiters]) if (isThere(waiter)) waiter.wake();
  };

  const look = async (): Promise<void> => {
    const { rows } = await database.system.query<{ name: string; position: string }>(
      `SELECT name, position FROM ${schema}.projection_checkpoints`,
    );
    for (const { name, position } of rows) advance(name, BigInt(position));
  };

  /** One loop for all waiters: a notice may be lost, and whoever waits must not wait in vain. */
  const lookWhileWaiting = async (): Promise<void> => {
    await clock.sleep(LOOK_MS, closing.signal);
    while (waiters.size > 0 && !closing.signal.aborted) {
      await look().catch((error) => {
        log.debug({ schema, code: errorCode(error) }, 'checkpoints could not be read');
      });
      await clock.sleep(LOOK_MS, closing.signal);
    }
    looking = undefined;
  };

  const silence = options.leader.listen(POSITIONS_CHANNEL, (payload) => {
    if (payload === undefined) {
      look().catch(() => {}); // the session is new; whoever waits looks again
      return;
    }
    const [of, name, position] = payload.split(' ');
    if (of === schema && name !== undefined && position !== undefined) {
      advance(name, BigInt(position));
    }
  });

  const wait = (wanted: Omit<Waiter, 'wake'>, timeoutMs: number): Promise<boolean> =>
    new Promise((resolve) => {
      const wake = (): void => {
        cancel();
        waiters.delete(waiter);
        resolve(isThere(waiter));
      };
      const waiter: Waiter = { ...wanted, wake };
      const cancel = clock.after(timeoutMs, wake);
      waiters.add(waiter);
      looking ??= outsideTransactions(lookWhileWaiting);
    });

  return {
    passed,
    advance,
    reached: async (projections, position, timeoutMs) => {
      if (isThere({ projections, position })) return true;
      expectNoTransaction('a wait for a projection', log);
      if (waiters.size >= WAITERS_MAX || timeoutMs <= 0 || closing.signal.aborted) return false;
      return await wait({ projections, position }, timeoutMs);
    },
    close: async () => {
      silence();
      closing.abort();
      for (const waiter of [...waiters]) waiter.wake();
      await looking;
    },
  };
}
