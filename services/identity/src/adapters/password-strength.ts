/**
 * Estimates how hard a password is to guess, using zxcvbn in a separate thread. An estimate takes up to a tenth of a
 * second and would block other requests.
 */
import { Worker } from 'node:worker_threads';

type Waiting = {
  readonly resolve: (score: number) => void;
  readonly reject: (error: Error) => void;
};

let worker: Worker | undefined;
/** Pending estimates in request order. The thread answers in the same order. */
let waiting: Waiting[] = [];

/**
 * Returns a score from 0 (guessed at once) to 4. The thread starts with the first estimate and does not keep the
 * process alive.
 */
export function strengthOf(password: string): Promise<number> {
  worker ??= started();
  return new Promise((resolve, reject) => {
    waiting.push({ resolve, reject });
    worker?.postMessage(password);
  });
}

function started(): Worker {
  const own = new Worker(new URL('./password-strength-thread.ts', import.meta.url));
  own.on('message', (score: number) => waiting.shift()?.resolve(score));
  own.on('error', (error) => {
    const asked = waiting;
    waiting = [];
    worker = undefined;
    for (const { reject } of asked) reject(error);
  });
  own.unref();
  return own;
}
