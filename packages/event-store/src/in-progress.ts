/** How long the end of a process waits for appends under way. */
const DRAIN_MS = 5000;

/** What a store has taken on and not answered yet, so that its end can wait for it. */
export function inProgress() {
  const all = new Set<Promise<unknown>>();
  return {
    watch: <T>(work: Promise<T>): Promise<T> => {
      all.add(work);
      const done = () => void all.delete(work);
      work.then(done, done);
      return work;
    },
    /** Resolves when all is answered, or late. */
    drained: async (): Promise<void> => {
      const late = new Promise((resolve) => setTimeout(resolve, DRAIN_MS).unref());
      await Promise.race([Promise.allSettled(all), late]);
    },
  };
}
