/** A client that retries while a table lags behind its log, as the response tells it to. */
import { type RestAnswer, testForm } from '@cardea/testing';

/**
 * The time limit of the short form, in which the machine may be too busy to follow a log within one response's time.
 */
const CAUGHT_UP_MS_MAX = 30_000;

export async function caughtUp(ask: () => Promise<RestAnswer>): Promise<RestAnswer> {
  const deadline = performance.now() + (testForm.long ? 0 : CAUGHT_UP_MS_MAX);
  for (;;) {
    const answer = await ask();
    if (answer.code !== 'not_caught_up' || performance.now() >= deadline) return answer;
  }
}
