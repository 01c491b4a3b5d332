/**
 * Shares one read between all callers that ask while another read is under way. It starts after each of them
 * asked, so no answer is older than its question.
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
