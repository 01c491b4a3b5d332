/** Decides when a reader has something to read, from notices of publishes and from records of this process. */
import type { ProcessSession } from '@cardea/postgres';
import { type Clock, wakeSignal } from '@cardea/runtime';
import type { Consumer } from '../bus.ts';
import { tenantOf } from '../partition.ts';
import { BUS_NOTICES } from './migrations.ts';
import { PATIENT_EVERY_MS, type TopicTails } from './topic-tails.ts';

export type TopicNotices = {
  wake(): void;
  /** Whether the reader was woken for records that could wait. Reading it resets it. */
  isLate(): boolean;
  /** Returns the topics to which other processes may have published since the last call. */
  unread(): ReadonlySet<string>;
  /** Marks these topics to be read once more. */
  readAgain(topics: Iterable<string>): void;
  /** Waits until there may be something to read. */
  rest(signal: AbortSignal): Promise<void>;
  end(): void;
};

/**
 * The interval of polling. The session that receives the notices also wakes all readers when it may have missed one.
 */
const POLL_MS = 10_000;

type Published = { readonly type: string | null; readonly tenantId?: string };

type Dependencies = {
  readonly clock: Clock;
  readonly locks: Pick<ProcessSession, 'listen'>;
  readonly tails: Pick<TopicTails, 'listen' | 'publisher'>;
};

export const topicNotices = (
  { topics, types, isUrgent = () => true }: Pick<Consumer, 'topics' | 'types' | 'isUrgent'>,
  { clock, locks, tails }: Dependencies,
): TopicNotices => {
  const signal = wakeSignal(clock);
  const unread = new Set(topics);
  let isLate = false;
  let isWoken = false;
  let cancel: (() => void) | undefined;
  const wake = (): void => {
    isWoken = true;
    signal.wake();
  };
  const wakeLate = (): void => {
    cancel = undefined;
    isLate = true;
    wake();
  };
  /** Without types, the records may be of any type. */
  const wakeFor = (published: readonly Published[]): void => {
    const isAwaited =
      published.length === 0 ||
      published.some(
        ({ type, ...of }) =>
          type === null || ((types?.includes(type) ?? true) && isUrgent({ type, ...of })),
      );
    if (isAwaited) wake();
    else cancel ??= clock.after(PATIENT_EVERY_MS, wakeLate);
  };
  const readAgain = (some: Iterable<string>): void => {
    for (const topic of some) unread.add(topic);
  };
  const unlisten = locks.listen(BUS_NOTICES, (payload) => {
    const [topic, ...words] = payload?.split(' ') ?? [];
    if (topic !== undefined && !topics.includes(topic)) return;
    if (words.at(-1) === tails.publisher) return; // Records of this publisher are in the tails already.
    readAgain(topic === undefined ? topics : [topic]);
    wakeFor(words.filter((word) => !word.startsWith('@')).map((type) => ({ type })));
  });
  const unfollow = tails.listen((topic, published) => {
    if (!topics.includes(topic)) return;
    if (published === undefined) readAgain([topic]);
    wakeFor(published?.map(({ type, key }) => ({ type, tenantId: tenantOf(key) })) ?? []);
  });
  return {
    wake,
    isLate: () => {
      const answer = isLate;
      isLate = false;
      return answer;
    },
    unread: () => {
      const answer = new Set(unread);
      unread.clear();
      return answer;
    },
    readAgain,
    rest: async (stop) => {
      await signal.rest(POLL_MS, stop);
      if (!isWoken) readAgain(topics); // The reader was woken by the timer, so it reads all topics.
      isWoken = false;
    },
    end: () => {
      unlisten();
      unfollow();
      cancel?.();
    },
  };
};
