/** Pages of a log, read once for all followers at the same position, and a wait for new events. */
import type { EventStore, Log, RecordedEvent } from '@cardea/event-store';
import type { Clock } from '@cardea/runtime';

export const PAGE_EVENTS_MAX = 500;
const PAGES_SHARED_MAX = 8;
/** A store's notices arrive within a second. */
const TRUST_MS = 1000;

export type Page = {
  readonly events: readonly RecordedEvent[];
  /** The monotonic time at which the log was read. Undefined if only events known to this process were read. */
  readonly askedAtMs: number | undefined;
  /** The argument for {@link LogReader.changed}. */
  readonly generation: number;
};

/** A resting follower, which is woken only for events that concern it. */
export type Resting = {
  /** The next page begins after this position. */
  after(): bigint;
  /** Passes the next page to the follower. Returns false if the follower has to be woken. */
  pass(page: Page): boolean;
};

/** A follower that waits for a change. Without `resting` it is woken for every change. */
type Waiting = { readonly wake: () => void; readonly resting: Resting | undefined };

/** One service's log as its followers read it. */
export interface LogReader {
  /** The next events after `after`, {@link PAGE_EVENTS_MAX} at most. */
  page(after: bigint): Promise<Page>;
  /**
   * Resolves when something was appended since the page was read, on abort, or after `ms`. With `resting`, only when
   * that concerns it.
   */
  changed(generation: number, ms: number, signal: AbortSignal, resting?: Resting): Promise<void>;
  close(): Promise<void>;
}

/**
 * After `asksServerMs` a page includes events of other processes for which no notice has arrived yet, and states when
 * it asked.
 */
export async function openLogReader(
  store: EventStore,
  log: Log,
  { clock, asksServerMs }: { readonly clock: Clock; readonly asksServerMs?: number },
): Promise<LogReader> {
  let generation = 0;
  let askedAtMs = Number.NEGATIVE_INFINITY;
  const waiting = new Set<Waiting>();
  const pages = new Map<bigint, { readonly generation: number; readonly page: Promise<Page> }>();
  let showing = false;
  const unsubscribe = await store.subscribe(log, () => {
    generation += 1;
    for (const { wake, resting } of waiting) if (resting === undefined) wake();
    if (!showing && waiting.size > 0) void showAll();
  });

  /** Reads once for all that rest at the same position, instead of waking each of them. */
  const showAll = async (): Promise<void> => {
    showing = true;
    for (let shown: number | undefined; shown !== generation && waiting.size > 0; ) {
      shown = generation;
      const positions = Map.groupBy(waiting, ({ resting }) => resting?.after());
      for (const [after, followers] of positions)
        if (after !== undefined) await show(after, followers);
    }
    showing = false;
  };
  const show = async (after: bigint, followers: readonly Waiting[]): Promise<void> => {
    const page = await pageAfter(after).catch(() => undefined);
    for (const follower of followers) {
      // It may have been woken while the page was read.
      if (!waiting.has(follower) || follower.resting?.after() !== after) continue;
      if (page === undefined || !passes(follower.resting, page)) follower.wake();
    }
  };

  const read = async (after: bigint, asked: number): Promise<Page> => {
    const nowMs = clock.monotonicMs();
    const asks = asksServerMs !== undefined && nowMs - askedAtMs >= asksServerMs;
    if (!asks) {
      const events = await store.followLog(log, after, PAGE_EVENTS_MAX);
      return { askedAtMs: undefined, events, generation: asked };
    }
    const events = await store.readLog(log, after, PAGE_EVENTS_MAX);
    askedAtMs = nowMs;
    return { askedAtMs, events, generation: asked };
  };

  const pageAfter = (after: bigint): Promise<Page> => {
    const shared = pages.get(after);
    // A page that was requested before the latest append may lack its events.
    if (shared?.generation === generation) return shared.page;
    const page = read(after, generation);
    pages.delete(after);
    pages.set(after, { generation, page });
    const [oldest] = pages.keys();
    if (pages.size > PAGES_SHARED_MAX && oldest !== undefined) pages.delete(oldest);
    page.catch(() => {
      if (pages.get(after)?.page === page) pages.delete(after);
    });
    return page;
  };

  return {
    page: pageAfter,
    changed: (since, ms, signal, resting) =>
      new Promise((resolve) => {
        if (since !== generation || signal.aborted) return resolve();
        const wake = (): void => {
          cancel();
          signal.removeEventListener('abort', wake);
          waiting.delete(follower);
          resolve();
        };
        const follower = { wake, resting };
        const cancel = clock.after(ms, () => {
          // After this wait the readers poll, in case a notice was lost.
          if (ms >= TRUST_MS) generation += 1;
          wake();
        });
        waiting.add(follower);
        signal.addEventListener('abort', wake);
      }),
    close: unsubscribe,
  };
}

/** Without a page, and after an error, a follower is woken. If it fails again, it reports the error itself. */
function passes(resting: Resting, page: Page): boolean {
  try {
    return resting.pass(page);
  } catch {
    return false;
  }
}
