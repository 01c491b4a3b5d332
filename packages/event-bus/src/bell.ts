import type { Clock } from '@cardea/runtime';

/** Wakes a loop that rests. A ring between two rests is not lost: the next rest ends at once. */
export type Bell = {
  ring(): void;
  /** Until it rings, the time is over, or the signal aborts. */
  rest(ms: number, signal: AbortSignal): Promise<void>;
};

/** A reason of our own: the default one is an error with a stack, made at every ring. */
const RUNG = 'rung';

export const bell = (clock: Clock): Bell => {
  let rung = false;
  let resting: AbortController | undefined;
  return {
    ring: () => {
      rung = true;
      resting?.abort(RUNG);
    },
    rest: async (ms, signal) => {
      if (!rung && !signal.aborted) {
        const own = new AbortController();
        const end = () => own.abort();
        resting = own;
        signal.addEventListener('abort', end, { once: true });
        await clock.sleep(ms, own.signal);
        signal.removeEventListener('abort', end);
        resting = undefined;
      }
      rung = false;
    },
  };
};
