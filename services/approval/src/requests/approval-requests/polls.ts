/**
 * Long polls, each of which waits until one request is decided. A poll is registered before the stream is read, so that
 * it never misses a decision in between.
 */
import {
  type Cache,
  CacheUnavailable,
  type Clock,
  FairShares,
  metrics,
  wakeSignal,
} from '@cardea/runtime';
import type { Loop } from '@cardea/service';
import {
  POLL_REREAD_MS,
  POLL_WITHOUT_CACHE_MS,
  POLLS_MAX,
  POLLS_PER_FREE_POLL,
  POLLS_PER_PRINCIPAL_MAX,
} from '../limits.ts';
import type { Changes } from './changes.ts';

export type Wait<State> = {
  readonly id: string;
  readonly tenantId: string;
  /** Tenant, kind and id of the caller. */
  readonly principal: string;
  readonly waitMs: number;
  readonly read: () => Promise<State>;
  /** True if there is nothing more to wait for. */
  readonly isOver: (state: State) => boolean;
  /** Returns the time when the request expires. The poll does not wait beyond that time. */
  readonly endsAt: (state: State) => Date | undefined;
  /** Aborted when the client disconnects or the process stops. The poll then returns the current state. */
  readonly stops: readonly AbortSignal[];
};

export type Polls = {
  wait<State>(of: Wait<State>): Promise<State | 'too_many_polls'>;
  /** While the cache is unreachable, wakes all polls each second so that they read again. */
  readonly loop: Loop;
  stop(): Promise<void>;
};

/** While there are no polls, the loop only reports that it is alive. */
const NOBODY_MS = 10_000;

type Caller = Pick<Wait<unknown>, 'id' | 'principal' | 'tenantId'>;
type Waiter = { wake: () => void };

export function polls(needs: {
  readonly changes: Changes;
  readonly clock: Clock;
  readonly cache: Pick<Cache, 'ping'>;
}): Polls {
  const { changes, clock, cache } = needs;
  const waiting = new Map<string, Set<Waiter>>();
  const perPrincipal = new Map<string, number>();
  const shares = new FairShares({ places: POLLS_MAX, perFreePlace: POLLS_PER_FREE_POLL });
  let open = 0;
  const opened = wakeSignal(clock);
  const wake = (id: string | undefined): void => {
    const woken = id === undefined ? [...waiting.values()] : [waiting.get(id) ?? []];
    for (const waiters of woken) for (const waiter of waiters) waiter.wake();
  };
  const deaf = changes.listen(wake);

  /** Undefined if the caller, its tenant or all callers together have reached their limit of open polls. */
  const enter = ({ id, principal, tenantId }: Caller, waiter: Waiter) => {
    if ((perPrincipal.get(principal) ?? 0) >= POLLS_PER_PRINCIPAL_MAX) return undefined;
    const giveBack = shares.take(tenantId);
    if (giveBack === undefined) return undefined;
    open += 1;
    if (open === 1) opened.wake();
    metrics.longPollsOpen.inc();
    count(perPrincipal, principal, 1);
    waiting.set(id, (waiting.get(id) ?? new Set()).add(waiter));
    return (): void => {
      open -= 1;
      metrics.longPollsOpen.dec();
      count(perPrincipal, principal, -1);
      giveBack();
      const here = waiting.get(id);
      here?.delete(waiter);
      if (here?.size === 0) waiting.delete(id);
    };
  };

  return {
    wait: async (of) => {
      const waiter: Waiter = { wake: () => undefined };
      const leave = enter(of, waiter);
      if (leave === undefined) return 'too_many_polls';
      const onStop = (): void => waiter.wake();
      for (const stop of of.stops) stop.addEventListener('abort', onStop);
      try {
        await changes.open().catch(unlessAway);
        return await untilOver(of, waiter, clock);
      } finally {
        for (const stop of of.stops) stop.removeEventListener('abort', onStop);
        leave();
      }
    },
    loop: {
      name: 'approval.polls',
      run: async (signal, tick) => {
        while (!signal.aborted) {
          tick();
          if (open > 0 && !(await answers(cache))) wake(undefined);
          if (open > 0) await clock.sleep(POLL_WITHOUT_CACHE_MS, signal);
          else await opened.rest(NOBODY_MS, signal);
        }
      },
    },
    stop: async () => {
      deaf();
      await changes.close();
    },
  };
}

async function untilOver<State>(of: Wait<State>, waiter: Waiter, clock: Clock): Promise<State> {
  const end = clock.monotonicMs() + of.waitMs;
  while (true) {
    const awakened = new AbortController();
    waiter.wake = () => awakened.abort();
    const state = await of.read();
    const leftMs = end - clock.monotonicMs();
    if (of.isOver(state) || leftMs <= 0 || of.stops.some(({ aborted }) => aborted)) return state;
    const endsInMs = (of.endsAt(state)?.getTime() ?? Infinity) - clock.now().getTime();
    const pauseMs = Math.max(1, Math.min(leftMs, endsInMs, POLL_REREAD_MS));
    await clock.sleep(pauseMs, awakened.signal);
  }
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
