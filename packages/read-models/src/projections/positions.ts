/**
 * The progress of each of a service's projections as known to this process: immediately for those that it runs itself,
 * by one notice per batch for the others, and by polling the checkpoints while a caller waits.
 */

import { positionsChannel, waiters } from '@cardea/log-follower';
import type { Database, ProcessSession } from '@cardea/postgres';
import {
  type Clock,
  errorCode,
  expectNoTransaction,
  type Logger,
  outsideTransactions,
} from '@cardea/runtime';
import type { Positions } from './projection.ts';

const WAITERS_MAX = 10_000;
const LOOK_MS = 250;

/** Positions that the process's own runners update. */
export interface PositionBoard extends Positions {
  /** The position never moves back. */
  advance(projection: string, position: bigint): void;
  /** Calls the listener when another process has applied events, or may have. */
  onApplied(projection: string, listener: () => void): void;
  close(): Promise<void>;
}

export type PositionsOptions = {
  readonly schema: string;
  readonly database: Database;
  readonly leader: ProcessSession;
  readonly clock: Clock;
  readonly log: Logger;
};

export function openPositions(options: PositionsOptions): PositionBoard {
  const { schema, database, clock, log } = options;
  const known = new Map<string, bigint>();
  const waiting = waiters(clock, WAITERS_MAX);
  const closing = new AbortController();
  const listeners = new Map<string, (() => void)[]>();
  let looking: Promise<void> | undefined;

  const passed = (projection: string): bigint => known.get(projection) ?? 0n;

  const advance = (projection: string, position: bigint): void => {
    const before = known.get(projection);
    if (before !== undefined && position <= before) return;
    known.set(projection, position);
    waiting.moved();
  };

  const look = async (): Promise<void> => {
    const { rows } = await database.system.query<{ name: string; position: string }>(
      `SELECT name, position FROM ${schema}.projection_checkpoints`,
    );
    for (const { name, position } of rows) advance(name, BigInt(position));
  };

  /** One loop for all waiting callers, because a notice may be lost. */
  const lookWhileWaiting = async (): Promise<void> => {
    await clock.sleep(LOOK_MS, closing.signal);
    while (waiting.size > 0 && !closing.signal.aborted) {
      await look().catch((error) => {
        log.debug({ schema, code: errorCode(error) }, 'checkpoints could not be read');
      });
      await clock.sleep(LOOK_MS, closing.signal);
    }
    looking = undefined;
  };

  const unlisten = options.leader.listen(positionsChannel(schema), (payload) => {
    if (payload === undefined) {
      look().catch(() => {}); // The session is new, so waiting callers poll again.
      for (const listener of [...listeners.values()].flat()) listener();
      return;
    }
    const notice = readNotice(payload);
    if (notice?.schema !== schema) return;
    for (const [name, position] of notice.positions) {
      const isNew = position > passed(name);
      advance(name, position);
      if (isNew && notice.haveApplied) for (const listener of listeners.get(name) ?? []) listener();
    }
  });

  return {
    passed,
    advance,
    onApplied: (projection, listener) => {
      listeners.set(projection, [...(listeners.get(projection) ?? []), listener]);
    },
    reached: async (projections, position, timeoutMs) => {
      const isThere = (): boolean => {
        for (const name of projections) if ((known.get(name) ?? 0n) < position) return false;
        return true;
      };
      if (isThere()) return true;
      expectNoTransaction('a wait for a projection', log);
      const reached = waiting.until(isThere, timeoutMs);
      if (waiting.size > 0) looking ??= outsideTransactions(lookWhileWaiting);
      return await reached;
    },
    close: async () => {
      unlisten();
      closing.abort();
      waiting.end();
      await looking;
    },
  };
}

type Notice = {
  readonly schema: string;
  readonly positions: readonly (readonly [name: string, position: bigint])[];
  /** Whether there was something to apply. */
  readonly haveApplied: boolean;
};

/** Undefined for a payload of an unknown form, which another version of the program may send. */
function readNotice(payload: string): Notice | undefined {
  const applied = /^(\w+) (\w+) (\d+)$/.exec(payload);
  if (applied !== null) {
    const [, schema = '', name = '', position = ''] = applied;
    return { schema, positions: [[name, BigInt(position)]], haveApplied: true };
  }
  const idle = /^(\w+):((?:\w+=\d+,?)+)$/.exec(payload);
  if (idle === null) return undefined;
  const [, schema = '', moved = ''] = idle;
  const positions = moved.split(',').map((each) => {
    const [name = '', position = '0'] = each.split('=');
    return [name, BigInt(position)] as const;
  });
  return { schema, positions, haveApplied: false };
}
