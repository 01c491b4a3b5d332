/**
 * How hard a password is to guess, as zxcvbn estimates it: in a thread of its own, for an estimate takes up to a
 * tenth of a second and would hold up everybody else's requests.
 */
import { Worker } from 'node:worker_threads';

type Waiting = {
  readonly resolve: (score: number) => void;
  readonly reject: (error: Error) => void;
};

let worker: Worker | undefined;
/** In the order in which they were asked; the thread answers in that order. */
let waiting: Waiting[] = [];

/** From 0, guessed at once, to 4. The thread starts with the first estimate and keeps no process alive. */
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
