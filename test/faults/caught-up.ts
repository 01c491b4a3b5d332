/** A client that asks again where a table has not caught up with its log yet, as the answer tells it to. */
import { type RestAnswer, testForm } from '@cardea/testing';

/** In the short form, which may meet a machine too busy to follow a log within one answer's time. */
const CAUGHT_UP_MS_MAX = 30_000;

export async function caughtUp(ask: () => Promise<RestAnswer>): Promise<RestAnswer> {
  const deadline = performance.now() + (testForm.long ? 0 : CAUGHT_UP_MS_MAX);
  for (;;) {
    const answer = await ask();
    if (answer.code !== 'not_caught_up' || performance.now() >= deadline) return answer;
  }
}
