/** How long the stop of a process waits for pending appends. */
const DRAIN_MS = 5000;

/** The appends that a store has accepted and not finished, so that its stop can wait for them. */
export function inProgress() {
  const all = new Set<Promise<unknown>>();
  return {
    watch: <T>(work: Promise<T>): Promise<T> => {
      all.add(work);
      const done = () => void all.delete(work);
      work.then(done, done);
      return work;
    },
    /** Resolves when all pending appends have ended, or after the time limit. */
    drained: async (): Promise<void> => {
      const late = new Promise((resolve) => setTimeout(resolve, DRAIN_MS).unref());
      await Promise.race([Promise.allSettled(all), late]);
    },
  };
}
