/** Runs one call at a time. Calls that arrive while one runs share the next, which starts after all of them. */
export function inTurns(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  return () => {
    next ??= running.then(() => {
      next = undefined;
      const done = work();
      running = done.catch(() => {});
      return done;
    });
    return next;
  };
}
