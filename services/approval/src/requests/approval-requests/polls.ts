/**
 * Long polls, each of which waits until one request is decided. A poll is registered before the stream is read, so that
 * it never misses a decision in between. An open poll costs memory and one timer: the requests that polls wait for are
 * looked at by one loop, once each for any number of polls, and many in one statement.
 */
import {
  type Cache,
  CacheUnavailable,
  type Clock,
  FairShares,
  metrics,
  type WakeSignal,
  wakeSignal,
} from '@cardea/runtime';
import type { Loop } from '@cardea/service';
import {
  POLL_WITHOUT_CACHE_MS,
  POLLS_MAX,
  POLLS_PER_FREE_POLL,
  POLLS_PER_PRINCIPAL_MAX,
} from '../limits.ts';
import type { Changes } from './changes.ts';
import { type Polled, PolledRequests, Waiter } from './polled-requests.ts';

export type Wait<State> = {
  /** The id of the request. It is unique over all tenants. */
  readonly id: string;
  readonly tenantId: string;
  /** Tenant, kind and id of the caller. */
  readonly principal: string;
  readonly waitMs: number;
  /** The state for the response. */
  readonly read: () => Promise<State>;
  /** Only reads. The loop calls it for one of the polls of a request; a poll that it wakes calls `read` itself. */
  readonly look: () => Promise<State>;
  /** True if there is nothing more to wait for. */
  readonly isOver: (state: State) => boolean;
  /** Returns the time when the request expires. The poll does not wait beyond that time. */
  readonly endsAt: (state: State) => Date | undefined;
  /** Called before each time that the poll waits. */
  readonly onWait: () => void;
  /** Aborted when the client disconnects. The poll then ends. */
  readonly signal: AbortSignal;
  /** Aborted when the process stops. The poll then returns the current state. Many polls may share the signal. */
  readonly draining: AbortSignal;
};

export type Polls = {
  wait<State>(of: Wait<State>): Promise<State | 'too_many_polls'>;
  /**
   * Wakes the polls whose request was decided without a notification. It looks at each request every `POLL_REREAD_MS`,
   * and each second while the cache is unreachable.
   */
  readonly loop: Loop;
  stop(): Promise<void>;
};

/** While there are no polls, the loop only reports that it is alive. */
const NOBODY_MS = 10_000;

type Caller = Pick<Wait<unknown>, 'id' | 'principal' | 'tenantId'>;

export function polls(needs: {
  readonly changes: Changes;
  readonly clock: Clock;
  readonly cache: Pick<Cache, 'ping'>;
}): Polls {
  const { changes, clock, cache } = needs;
  const polled = new PolledRequests(clock);
  const perPrincipal = new Map<string, number>();
  const shares = new FairShares({ places: POLLS_MAX, perFreePlace: POLLS_PER_FREE_POLL });
  const looks = wakeSignal(clock);
  const deaf = changes.listen((id) => {
    if (id !== undefined) return polled.wake(id);
    polled.makeAllDue();
    looks.wake();
  });
  const drains = new WeakSet<AbortSignal>();
  /** One listener serves all polls, because a signal walks through its listeners when one is added or removed. */
  const listenTo = (draining: AbortSignal): void => {
    if (drains.has(draining)) return;
    drains.add(draining);
    draining.addEventListener('abort', () => polled.wakeAll());
  };

  /** Undefined if the caller, its tenant or all callers together have reached their limit of open polls. */
  const enter = ({ id, principal, tenantId }: Caller, waiter: Waiter) => {
    if ((perPrincipal.get(principal) ?? 0) >= POLLS_PER_PRINCIPAL_MAX) return undefined;
    const giveBack = shares.take(tenantId);
    if (giveBack === undefined) return undefined;
    metrics.longPollsOpen.inc();
    count(perPrincipal, principal, 1);
    const remove = polled.add(id, waiter);
    if (polled.size === 1) looks.wake();
    return (): void => {
      metrics.longPollsOpen.dec();
      count(perPrincipal, principal, -1);
      giveBack();
      remove();
    };
  };

  return {
    wait: async (of) => {
      const isOver = async (): Promise<boolean> => {
        const state = await of.look();
        return of.isOver(state) || endsInMs(of, state, clock) <= 0;
      };
      const waiter = new Waiter(isOver);
      const leave = enter(of, waiter);
      if (leave === undefined) return 'too_many_polls';
      const onGone = (): void => waiter.wake();
      of.signal.addEventListener('abort', onGone);
      listenTo(of.draining);
      try {
        await changes.open().catch(unlessAway);
        return await untilOver(of, waiter, clock);
      } finally {
        of.signal.removeEventListener('abort', onGone);
        leave();
      }
    },
    loop: { name: 'approval.polls', run: looking({ polled, looks, clock, cache }) },
    stop: async () => {
      deaf();
      await changes.close();
    },
  };
}

function looking({
  polled,
  looks,
  clock,
  cache,
}: {
  readonly polled: PolledRequests;
  readonly looks: WakeSignal;
  readonly clock: Clock;
  readonly cache: Pick<Cache, 'ping'>;
}): Loop['run'] {
  return async (signal, tick) => {
    while (!signal.aborted) {
      tick();
      // Requests that are due before the next turn are read in this one.
      const nextMs = clock.monotonicMs() + POLL_WITHOUT_CACHE_MS;
      if (polled.size > 0 && !(await answers(cache))) polled.makeAllDue();
      for (let due = polled.takeDue(nextMs); due.length > 0; due = polled.takeDue(nextMs)) {
        tick();
        await Promise.all(due.map(wakeIfOver));
      }
      const restMs = polled.size > 0 ? nextMs - clock.monotonicMs() : NOBODY_MS;
      await looks.rest(restMs, signal);
    }
  };
}

async function untilOver<State>(of: Wait<State>, waiter: Waiter, clock: Clock): Promise<State> {
  const end = clock.monotonicMs() + of.waitMs;
  while (true) {
    waiter.begin();
    const state = await of.read();
    const leftMs = end - clock.monotonicMs();
    const isStopped = of.signal.aborted || of.draining.aborted;
    if (of.isOver(state) || leftMs <= 0 || isStopped) return state;
    of.onWait();
    await waiter.rest(Math.max(1, Math.min(leftMs, endsInMs(of, state, clock))), clock);
  }
}

const endsInMs = <State>({ endsAt }: Wait<State>, state: State, clock: Clock): number =>
  (endsAt(state)?.getTime() ?? Infinity) - clock.now().getTime();

/**
 * Wakes the polls of a request that is over. If the look fails, they read the request themselves and determine their
 * response.
 */
async function wakeIfOver({ waiters }: Polled): Promise<void> {
  const [first] = waiters;
  const isOver = await first?.isOver().catch(() => true);
  if (isOver) for (const waiter of waiters) waiter.wake();
}

function count(counts: Map<string, number>, name: string, by: 1 | -1): void {
  const left = (counts.get(name) ?? 0) + by;
  if (left === 0) counts.delete(name);
  else counts.set(name, left);
}

const unlessAway = (error: unknown): void => {
  if (!(error instanceof CacheUnavailable)) throw error;
};

async function answers(cache: Pick<Cache, 'ping'>): Promise<boolean> {
  try {
    await cache.ping();
    return true;
  } catch (error) {
    unlessAway(error);
    return false;
  }
}
