/**
 * The lease with which this process may answer from memory. While it is valid, every write that any process has
 * acknowledged is applied here. A writer waits for each row of `replicas` until the row has reached the write's
 * position, or can no longer be renewed and its last lease has ended.
 */
import type { Clock, Ids, Logger } from '@cardea/runtime';
import type { Loop } from '@cardea/service';
import type { ReplicaTable } from '../adapters/replica-table.ts';
import type { Follower } from './follower.ts';

const RENEW_EVERY_MS = 500;
/** The lease begins before a renewal is sent. Writers wait longer than this for a row that is not renewed. */
export const LEASE_MS = 1_700;
/** The longest wait for the follower's first position, because a row with a lower position would delay writers. */
const START_WAIT_MS = 5_000;

export type ReplicaLeaseDependencies = {
  readonly table: ReplicaTable;
  readonly follower: Pick<Follower, 'position' | 'reached'>;
  /** The position of the end of the log. */
  readonly head: () => Promise<bigint>;
  /** Checks the rows of other replicas while no writer waits. */
  readonly look: () => Promise<void>;
  /** Whether the last check found rows of other replicas. */
  readonly hasOthers: () => boolean;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
};

export type ReplicaLease = {
  /** Call it in the same turn of the event loop as the evaluation. */
  readonly isValid: () => boolean;
  /** The id of this process's row. Its own writes need not wait for it. */
  readonly id: () => string | undefined;
  readonly loop: Loop;
};

/** If this is the only process, no other process can write. */
export const aloneLease: Pick<ReplicaLease, 'isValid'> = { isValid: () => true };

type Moment = { readonly monotonicMs: number; readonly wallMs: number };
type Registered = {
  readonly id: string;
  /** The end of the log at the registration. Writes before it did not wait for this replica. */
  joinsAt?: bigint;
  renewed: Moment;
  reported: bigint;
};

export function replicaLease(needs: ReplicaLeaseDependencies): ReplicaLease {
  const { clock } = needs;
  let own: Registered | undefined;
  const now = (): Moment => ({
    monotonicMs: clock.monotonicMs(),
    wallMs: clock.now().getTime(),
  });
  /** Both clocks are compared, because either may have stopped or been set while the process was suspended. */
  const isWithin = ({ monotonicMs, wallMs }: Moment): boolean =>
    clock.monotonicMs() < monotonicMs + LEASE_MS && clock.now().getTime() < wallMs + LEASE_MS;

  const register = async (): Promise<void> => {
    const replaced = own?.id;
    own = undefined;
    const renewed = now();
    const id = needs.ids.next();
    const reported = needs.follower.position;
    await needs.table.register(id, reported, replaced);
    const registered: Registered = { id, renewed, reported };
    own = registered;
    registered.joinsAt = await needs.head();
  };

  /** Returns false if the row was fenced or removed. */
  const renew = async (registered: Registered): Promise<boolean> => {
    const sent = now();
    const { position } = needs.follower;
    if (!(await needs.table.renew(registered.id, position))) return false;
    registered.renewed = sent;
    registered.reported = position;
    return true;
  };

  const report = async (registered: Registered): Promise<boolean> => {
    const { position } = needs.follower;
    if (!(await needs.table.report(registered.id, position))) return false;
    registered.reported = position;
    return true;
  };

  /** Runs at most one statement, then waits for the next reason to run. */
  const turn = async (registered: Registered, signal: AbortSignal): Promise<void> => {
    const restMs = registered.renewed.monotonicMs + RENEW_EVERY_MS - clock.monotonicMs();
    if (restMs <= 0) {
      if (!(await renew(registered))) return register();
      return needs.look();
    }
    // Each renewal includes the position, which suffices while nobody waits for it.
    if (!needs.hasOthers()) return clock.sleep(restMs, signal);
    if (needs.follower.position > registered.reported) {
      if (!(await report(registered))) await register();
      return;
    }
    if (await needs.follower.reached(registered.reported + 1n, restMs)) return;
    await clock.sleep(
      registered.renewed.monotonicMs + RENEW_EVERY_MS - clock.monotonicMs(),
      signal,
    );
  };

  const run: Loop['run'] = async (signal, tick) => {
    try {
      while (!signal.aborted) {
        tick();
        if (own !== undefined) await turn(own, signal);
        else if (await needs.follower.reached(0n, START_WAIT_MS)) await register();
        // The promise resolves at once if the follower has stopped, so this waits instead.
        else await clock.sleep(RENEW_EVERY_MS, signal);
      }
    } finally {
      const id = own?.id;
      own = undefined;
      if (id !== undefined) await needs.table.remove(id).catch(() => {});
    }
  };

  return {
    isValid: () =>
      own?.joinsAt !== undefined && needs.follower.position >= own.joinsAt && isWithin(own.renewed),
    id: () => own?.id,
    loop: { name: 'authz-lease', run },
  };
}
