/**
 * The members of a consumer share its partitions: each takes every n-th, and reads those whose lock it holds. A member
 * counts as alive as long as its session holds the lock of its own name. A killed member is thus gone as soon as its
 * connection is, without a timeout. One statement a second determines this for all consumers of a process.
 */
import { randomUUID } from 'node:crypto';
import { TOPIC_PARTITIONS } from '@cardea/contracts';
import { runUntil } from '@cardea/log-follower';
import { lockKey, type ProcessSession } from '@cardea/postgres';
import type { Database } from '@cardea/read-models';
import { type Clock, type Lease, type Logger, type Loops, wakeSignal } from '@cardea/runtime';

/** The memberships of all consumers of a process. */
export type Members = { join(consumer: string, onChanged: () => void): Membership };

export type Membership = {
  /** The partitions that this member holds. */
  partitions(): ReadonlySet<number>;
  leave(): Promise<void>;
};

export type MembersDependencies = {
  /** The database of the topics, in which `locks` has its session. */
  readonly bus: Database;
  readonly locks: ProcessSession;
  readonly clock: Clock;
  readonly loops: Loops;
  readonly log: Logger;
};

const LOOK_MS = 1000;

const ALIVE = {
  name: 'bus_members_alive',
  text: `SELECT m.consumer, m.member FROM bus.members AS m
         JOIN pg_catalog.pg_locks AS l
           ON l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
          AND l.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())
          AND ((l.classid::bigint << 32) | l.objid::bigint) = m.lock_key
         WHERE m.consumer = ANY($1) ORDER BY m.consumer, m.member`,
};
const JOIN = `INSERT INTO bus.members (consumer, member, lock_key)
  SELECT * FROM unnest($1::text[], $2::uuid[], $3::bigint[]) ON CONFLICT DO NOTHING`;
/** A row whose lock nobody holds belongs to a dead member. After a day that is certain. */
const LEAVE = `DELETE FROM bus.members AS m WHERE m.consumer = $1 AND (m.member = $2 OR NOT EXISTS (
  SELECT FROM pg_catalog.pg_locks AS l WHERE l.locktype = 'advisory' AND l.objsubid = 1
    AND ((l.classid::bigint << 32) | l.objid::bigint) = m.lock_key))`;

export const busMembers = (needs: MembersDependencies): Members => {
  const { bus, clock, loops, log } = needs;
  const joined = new Set<Member>();
  const wake = wakeSignal(clock);
  let looking: { readonly stop: AbortController; readonly ended: Promise<void> } | undefined;

  const alive = async (): Promise<ReadonlyMap<string, readonly string[]>> => {
    const { rows } = await bus.system.query<{ consumer: string; member: string }>(ALIVE, [
      [...joined].map(({ consumer }) => consumer),
    ]);
    const found = new Map<string, string[]>();
    for (const { consumer, member } of rows) {
      found.set(consumer, [...(found.get(consumer) ?? []), member]);
    }
    return found;
  };
  const look = async (): Promise<void> => {
    const present = [...joined].filter((member) => member.isPresent());
    let found = await alive();
    const missing = present.filter(({ consumer, id }) => !found.get(consumer)?.includes(id));
    if (missing.length > 0) {
      await bus.system.query(JOIN, [
        missing.map(({ consumer }) => consumer),
        missing.map(({ id }) => id),
        missing.map(({ lock }) => lockKey(lock)),
      ]);
      found = await alive();
    }
    for (const member of joined) await member.share(found.get(member.consumer) ?? []);
  };
  const start = () => {
    const stop = new AbortController();
    const watch = loops.watch('bus-members');
    const turn = async () => {
      await look();
      return { rest: () => wake.rest(LOOK_MS, stop.signal) };
    };
    const ended = runUntil(stop.signal, turn, { clock, log, watch }).then(() => watch.stop());
    return { stop, ended };
  };
  return {
    join: (consumer, onChanged) => {
      const member = new Member(consumer, { locks: needs.locks, onChanged, onGranted: wake.wake });
      joined.add(member);
      wake.wake();
      looking ??= start();
      return {
        partitions: () => member.partitions(),
        leave: async () => {
          joined.delete(member);
          if (joined.size === 0) {
            const last = looking;
            looking = undefined;
            last?.stop.abort();
            await last?.ended;
          }
          await member.leave(async () => {
            await bus.system.query(LEAVE, [consumer, member.id]).catch(() => {});
          });
        },
      };
    },
  };
};

type Wanted = { lease: Lease | undefined; readonly cancel: AbortController };

class Member {
  readonly consumer: string;
  readonly id = randomUUID();
  readonly lock = `bus-member:${this.id}`;
  readonly #needs: {
    readonly locks: ProcessSession;
    readonly onChanged: () => void;
    readonly onGranted: () => void;
  };
  readonly #stopped = new AbortController();
  readonly #wanted = new Map<string, Wanted>();
  #ours: ReadonlySet<number> = new Set();

  constructor(
    consumer: string,
    needs: {
      readonly locks: ProcessSession;
      readonly onChanged: () => void;
      readonly onGranted: () => void;
    },
  ) {
    this.consumer = consumer;
    this.#needs = needs;
  }

  isPresent(): boolean {
    return this.#holds(this.lock);
  }

  partitions(): ReadonlySet<number> {
    return this.#ours;
  }

  /** Takes or releases locks so that the members that are alive share the partitions. */
  async share(alive: readonly string[]): Promise<void> {
    const rank = this.isPresent() ? alive.indexOf(this.id) : -1;
    const ours = new Set<number>();
    for (let partition = 0; partition < TOPIC_PARTITIONS; partition += 1) {
      const name = `bus:${this.consumer}:${partition}`;
      if (rank < 0 || partition % alive.length !== rank) await this.#giveBack(name);
      else if (this.#holds(name)) ours.add(partition);
    }
    const isSame = ours.size === this.#ours.size && [...ours].every((one) => this.#ours.has(one));
    if (isSame) return;
    this.#ours = ours;
    this.#needs.onChanged();
  }

  async leave(unlist: () => Promise<void>): Promise<void> {
    this.#stopped.abort();
    for (const name of [...this.#wanted.keys()]) if (name !== this.lock) await this.#giveBack(name);
    await unlist();
    await this.#giveBack(this.lock);
  }

  /** Whether the lock of this name is held. If it is not, it is requested. */
  #holds(name: string): boolean {
    const known = this.#wanted.get(name);
    if (known !== undefined && known.lease?.lost.aborted !== true) return known.lease !== undefined;
    if (this.#stopped.signal.aborted) return false;
    const given: Wanted = { lease: undefined, cancel: new AbortController() };
    this.#wanted.set(name, given);
    const signal = AbortSignal.any([this.#stopped.signal, given.cancel.signal]);
    void this.#needs.locks.hold(name, signal).then((lease) => {
      if (lease === undefined) return;
      given.lease = lease;
      this.#needs.onGranted();
    });
    return false;
  }

  async #giveBack(name: string): Promise<void> {
    const known = this.#wanted.get(name);
    this.#wanted.delete(name);
    known?.cancel.abort();
    await known?.lease?.release();
  }
}
