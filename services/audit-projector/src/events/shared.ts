/**
 * Shares one read between all callers that arrive while another read is under way. It starts after each of them called,
 * so no result is older than its call.
 */
export function shared<T>(read: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  return () => {
    next ??= running.then(() => {
      next = undefined;
      const answer = read();
      running = answer.catch(() => undefined);
      return answer;
    });
    return next;
  };
}
