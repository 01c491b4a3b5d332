/**
 * The revocation list is in the shared cache, with a copy in every process. A process that may have missed revocations
 * uses neither its copy nor the cache until it has received all of them again. Identity answers in that time.
 */
import { type Cache, CacheRefusesWrites, CacheUnavailable, type Clock } from '@cardea/runtime';
import { tellChange } from '../fact-changes.ts';
import {
  type Ended,
  isTimed,
  type Looked,
  type Revocation,
  type Revocations,
} from '../principal.ts';
import { keeperOf, unlessAway } from './revocations-keeper.ts';
import { hearingOf, type Mirror, mirror, revocationKey } from './revocations-mirror.ts';
import { CHANNEL, GENERATION, QUESTIONS, readNotice } from './revocations-notice.ts';

const CHECK_MS = 1_000;

export type RevocationsDependencies = {
  readonly cache: Cache;
  readonly clock: Clock;
  /** JWT_EXPIRY + 1 h: how long a revocation must be kept to outlive what it revokes. */
  readonly ttlMs: number;
  /** Identity's answer, from its streams. Used while neither copy nor cache can be used. */
  readonly ended: Ended;
};

export interface MirroredRevocations extends Revocations {
  /** Subscribes to the revocations of other processes, and requests those that were missed. */
  start(): Promise<void>;
  /** Repairs every fault that can be repaired now. `run` calls it each second. Throws CacheUnavailable. */
  check(): Promise<void>;
  /**
   * Checks until the signal aborts. Calls `tick` in each round, and after each round `told` with the current faults.
   */
  run(
    signal: AbortSignal,
    tick: () => void,
    told: (fault: string | undefined) => void,
  ): Promise<void>;
  stop(): Promise<void>;
}

export function revocations(needs: RevocationsDependencies): MirroredRevocations {
  const { cache, clock } = needs;
  const list = mirror(clock, needs.ttlMs);
  const hearing = hearingOf(needs, list);
  const keeper = keeperOf(needs, { list, hearing });
  const leaving: (() => Promise<void>)[] = [];

  const check = async (): Promise<void> => {
    await keeper.settled();
    const whole = (await cache.get(GENERATION)) !== undefined;
    if (hearing.isDisconnected()) throw new CacheUnavailable('Nothing is heard.');
    if (keeper.isKept()) {
      if (!whole || keeper.hasPendingWrites() || hearing.subscriptionEpoch() === undefined)
        await keeper.fill();
    } else if (hearing.subscriptionEpoch() === undefined) {
      await hearing.ask();
    }
  };
  const mend = (): void => {
    // A failure is found at the next check, which tries again.
    check().catch(() => {});
  };
  const hear = (message: string): void => {
    const notice = readNotice(message);
    switch (notice?.word) {
      case undefined:
        return;
      case '+':
        for (const id of notice.ids) list.add(notice.kind, id, notice.at);
        return;
      case '-':
        for (const id of notice.ids) list.remove(notice.kind, id);
        keeper.heardRemoved(notice.kind, notice.ids);
        return;
      case '?':
        keeper.confirm(notice.names);
        return;
      case '!':
        hearing.confirmed(notice.names);
        return;
    }
  };

  return {
    add: keeper.add,
    remove: keeper.remove,
    changed: async (change) => {
      await keeper.orRetryLater(() => tellChange(cache, change));
    },
    settled: keeper.settled,
    isRevoked: list.has,
    subscriptionEpoch: hearing.subscriptionEpoch,
    look: (asked, keys) =>
      look({ ...needs, list, subscriptionEpoch: hearing.subscriptionEpoch }, asked, keys),
    start: async () => {
      if (leaving.length > 0) return;
      leaving.push(await cache.subscribe(QUESTIONS, questionsFor(keeper)));
      const healed = (): void => {
        hearing.healed();
        mend();
      };
      leaving.push(await cache.subscribe(CHANNEL, hear, { lost: hearing.lost, healed }));
      if (!hearing.isDisconnected()) await hearing.ask().catch(unlessAway);
    },
    keepFilled: keeper.keepFilled,
    check,
    run: async (signal, tick, told) => {
      while (!signal.aborted) {
        tick();
        const fault = await check().then(
          () =>
            hearing.subscriptionEpoch() === undefined ? 'revocations may be missing' : undefined,
          faultOf,
        );
        told(fault);
        await clock.sleep(CHECK_MS, signal);
      }
    },
    stop: async () => {
      for (const leave of leaving.splice(0)) await leave();
    },
  };
}

function faultOf(error: unknown): string {
  if (error instanceof CacheRefusesWrites) return 'the cache refuses writes';
  return error instanceof CacheUnavailable ? 'the cache is away' : 'revocations are not kept';
}

/** Any process may publish on that channel, so only requests are accepted on it. */
const questionsFor =
  ({ confirm }: Pick<ReturnType<typeof keeperOf>, 'confirm'>) =>
  (message: string): void => {
    const notice = readNotice(message);
    if (notice?.word === '?') confirm(notice.names);
  };

/** Reads revocations and other keys from the cache in one round trip. Without the cache, identity answers. */
async function look(
  {
    cache,
    ended,
    list,
    subscriptionEpoch,
  }: RevocationsDependencies & {
    readonly list: Mirror;
    readonly subscriptionEpoch: () => number | undefined;
  },
  asked: readonly Revocation[],
  keys: readonly string[] = [],
): Promise<Looked> {
  const names = [GENERATION, ...asked.map(({ kind, id }) => revocationKey(kind, id)), ...keys];
  const [generation, ...found] =
    subscriptionEpoch() === undefined ? [] : await cache.getMany(names).catch(noneIfAway);
  if (generation !== undefined || (found.length > 0 && cache.mode === 'in_process')) {
    return {
      // The cache may have evicted an entry that this process's copy still has.
      revoked: asked.map(
        (revocation, at) =>
          isEnded(revocation, found[at]) || list.has(revocation.kind, revocation.id, revocation.at),
      ),
      values: found.slice(asked.length),
    };
  }
  const words = await ended(asked);
  const revoked = asked.map(({ kind, id, at }, n) => words[n] !== false || list.has(kind, id, at));
  return { revoked, values: undefined };
}

const isEnded = ({ kind, at = 0 }: Revocation, value: string | undefined): boolean =>
  value !== undefined && (!isTimed(kind) || at < Number(value));

const noneIfAway = (error: unknown): readonly undefined[] => {
  unlessAway(error);
  return [];
};
