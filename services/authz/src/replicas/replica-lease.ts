/**
 * The lease of this process to answer from memory. While it is valid, every write that any process has
 * acknowledged is applied here: a writer waits for each row of `replicas`, until it has reached the write's
 * position or can be renewed no more and its last lease is over.
 */
import type { Clock, Ids, Logger } from '@cardea/runtime';
import type { Loop } from '@cardea/service';
import type { ReplicaTable } from '../adapters/replica-table.ts';
import type { Follower } from './follower.ts';

const RENEW_EVERY_MS = 500;
/** From before a renewal is sent. Writers wait longer than this for a row that is not renewed. */
export const LEASE_MS = 1_700;
/** Longest wait for the follower's first position; a row below it would only make writers wait. */
const START_WAIT_MS = 5_000;

export type ReplicaLeaseDependencies = {
  readonly table: ReplicaTable;
  readonly follower: Pick<Follower, 'position' | 'reached'>;
  /** The end of the log. */
  readonly head: () => Promise<bigint>;
  /** Looks after the rows of others while there is nothing to wait for. */
  readonly look: () => Promise<void>;
  /** Whether the last look found rows of others. */
  readonly hasOthers: () => boolean;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
};

export type ReplicaLease = {
  /** Call it in the same tick as the evaluation. */
  readonly isValid: () => boolean;
  /** The row of this process, which its own writes need not wait for. */
  readonly id: () => string | undefined;
  readonly loop: Loop;
};

/** If this is the only process, no other process can write. */
export const aloneLease: Pick<ReplicaLease, 'isValid'> = { isValid: () => true };

type Moment = { readonly monotonicMs: number; readonly wallMs: number };
type Registered = {
  readonly id: string;
  /** The end of the log when the row was there already: what no writer waited for came before it. */
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
  /** Either clock may have stood still, or have been set, while the process was suspended. */
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

  /** False when the row was fenced or removed. */
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

  /** One statement at most, then waits for the next cause of one. */
  const turn = async (registered: Registered, signal: AbortSignal): Promise<void> => {
    const restMs = registered.renewed.monotonicMs + RENEW_EVERY_MS - clock.monotonicMs();
    if (restMs <= 0) {
      if (!(await renew(registered))) return register();
      return needs.look();
    }
    // Each renewal says how far this process is, which is soon enough while nobody waits for it.
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
        // The answer comes at once where the follower has stopped already.
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
