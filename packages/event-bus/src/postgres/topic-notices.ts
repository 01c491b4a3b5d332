/** Wakes a reader for records of the types that it handles; for others it reads once a second. */
import type { LeaderLocks } from '@cardea/read-models';
import { type Clock, wakeSignal } from '@cardea/runtime';
import type { Consumer } from '../bus.ts';
import { BUS_NOTICES } from './migrations.ts';

export type TopicNotices = {
  wake(): void;
  /** Whether the reader was woken for records that it ignores. Answers once. */
  isLate(): boolean;
  /** Until there may be something to read. */
  rest(signal: AbortSignal): Promise<void>;
  end(): void;
};

/** The session that hears the notices wakes all when it may have missed one. */
const POLL_MS = 10_000;
const IGNORED_EVERY_MS = 1000;

export const topicNotices = (
  { topics, types }: Pick<Consumer, 'topics' | 'types'>,
  { clock, locks }: { readonly clock: Clock; readonly locks: Pick<LeaderLocks, 'listen'> },
): TopicNotices => {
  const signal = wakeSignal(clock);
  let isLate = false;
  let cancel: (() => void) | undefined;
  const wakeLate = (): void => {
    cancel = undefined;
    isLate = true;
    signal.wake();
  };
  const unlisten = locks.listen(BUS_NOTICES, (payload) => {
    const [topic, ...published] = payload?.split(' ') ?? [];
    if (topic !== undefined && !topics.includes(topic)) return;
    const isHandled =
      published.length === 0 ||
      types === undefined ||
      published.some((type) => types.includes(type));
    if (isHandled) signal.wake();
    else cancel ??= clock.after(IGNORED_EVERY_MS, wakeLate);
  });
  return {
    wake: () => signal.wake(),
    isLate: () => {
      const answer = isLate;
      isLate = false;
      return answer;
    },
    rest: (stop) => signal.rest(POLL_MS, stop),
    end: () => {
      unlisten();
      cancel?.();
    },
  };
};
