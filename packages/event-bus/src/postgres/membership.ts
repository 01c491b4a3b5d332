import { TOPIC_PARTITIONS } from '@cardea/contracts';
import type { Lease } from '@cardea/log-follower';
import { type Database, type LeaderLocks, lockKey } from '@cardea/read-models';

/**
 * The members of a consumer share its partitions: each takes every n-th, and reads those whose lock it
 * holds. A member counts as alive as long as its session holds the lock of its own name, so a killed one is
 * gone as soon as its connection is, without a timeout.
 */
export type Membership = {
  /**
   * Reads which members exist, takes or gives back locks, and returns the partitions that this member now
   * holds.
   */
  refresh(): Promise<ReadonlySet<number>>;
  leave(): Promise<void>;
};

type Dependencies = {
  /** The database of the topics; `locks` has its session there. */
  readonly bus: Database;
  readonly locks: LeaderLocks;
  readonly member: string;
  /** Called when a lock was granted. */
  readonly onGranted: () => void;
};

const ALIVE = {
  name: 'bus_members_alive',
  text: `SELECT m.member FROM bus.members AS m
         JOIN pg_catalog.pg_locks AS l
           ON l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
          AND l.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())
          AND ((l.classid::bigint << 32) | l.objid::bigint) = m.lock_key
         WHERE m.consumer = $1 ORDER BY m.member`,
};
/** A row whose lock nobody holds belongs to a member that is gone; after a day that is certain. */
const JOIN = `INSERT INTO bus.members (consumer, member, lock_key) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`;
const LEAVE = `DELETE FROM bus.members AS m WHERE m.consumer = $1 AND (m.member = $2 OR NOT EXISTS (
  SELECT FROM pg_catalog.pg_locks AS l WHERE l.locktype = 'advisory' AND l.objsubid = 1
    AND ((l.classid::bigint << 32) | l.objid::bigint) = m.lock_key))`;

export const membership = (consumer: string, needs: Dependencies): Membership => {
  const { bus, locks, member } = needs;
  const memberLock = `bus-member:${member}`;
  const stopped = new AbortController();
  const wanted = new Map<string, Wanted>();

  const want = (name: string): Wanted => {
    const known = wanted.get(name);
    if (known !== undefined && known.lease?.lost.aborted !== true) return known;
    const given: Wanted = { lease: undefined, cancel: new AbortController() };
    wanted.set(name, given);
    void locks.hold(name, AbortSignal.any([stopped.signal, given.cancel.signal])).then((lease) => {
      if (lease === undefined) return;
      given.lease = lease;
      needs.onGranted();
    });
    return given;
  };
  const giveBack = async (name: string): Promise<void> => {
    const known = wanted.get(name);
    wanted.delete(name);
    known?.cancel.abort();
    await known?.lease?.release();
  };

  const members = async (): Promise<readonly string[]> => {
    const { rows } = await bus.system.query<{ member: string }>(ALIVE, [consumer]);
    return rows.map((row) => row.member);
  };

  return {
    refresh: async () => {
      if (want(memberLock).lease === undefined) return new Set();
      let alive = await members();
      if (!alive.includes(member)) {
        await bus.system.query(JOIN, [consumer, member, lockKey(memberLock)]);
        alive = await members();
      }
      const rank = alive.indexOf(member);
      const ours = new Set<number>();
      for (let partition = 0; partition < TOPIC_PARTITIONS; partition += 1) {
        const name = `bus:${consumer}:${partition}`;
        if (rank < 0 || partition % alive.length !== rank) await giveBack(name);
        else if (want(name).lease !== undefined) ours.add(partition);
      }
      return ours;
    },
    leave: async () => {
      stopped.abort();
      for (const name of [...wanted.keys()]) if (name !== memberLock) await giveBack(name);
      await bus.system.query(LEAVE, [consumer, member]).catch(() => {});
      await giveBack(memberLock);
    },
  };
};

type Wanted = { lease: Lease | undefined; readonly cancel: AbortController };
