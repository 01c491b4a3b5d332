/**
 * A crowd of clients of a noisy tenant. Where each sends the same request they have a thread of their own: in the
 * thread of the victim their answers would delay its answers too, and its times would be those of this test.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { untilTrue } from '@cardea/testing';
import type { Flood, Misuse, Neighbour } from './neighbours.ts';

/** Replaced by a number of its own in the body of each request. */
export const NUMBER = '{number}';
/** After a refusal. */
const PAUSE_MS = 5;
const NUMBERS_OF_CROWD = 1_000_000;
const BEGINS_MS_MAX = 60_000;

export type CrowdWork = Omit<Flood, 'path'> & {
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly clients: number;
  readonly refused: number | undefined;
  readonly pauseMs: number;
  readonly firstNumber: number;
  /** One number: answers so far. */
  readonly counter: SharedArrayBuffer;
};
export type CrowdReport = { readonly wrong: readonly string[] };

type Answer = { readonly status: number; readonly hasRetryAfter: boolean; readonly text: string };

export type Crowd = {
  readonly answers: () => number;
  readonly stop: () => Promise<CrowdReport>;
};

/** Answers that no noisy client may get: what is refused is refused with the time to wait. */
export function wrongOf(
  { status, hasRetryAfter, text }: Answer,
  refused: number | undefined,
): string | undefined {
  const isToldToWait = (status === 429 || status === 503) && hasRetryAfter;
  const isExpected = status < 300 || status === refused || isToldToWait;
  return isExpected ? undefined : `${status} ${text.slice(0, 200)}`;
}

let crowds = 0;

/** Clients of the noisy tenant, until they are stopped. */
export async function crowd(
  noisy: Neighbour,
  { clients, misuse, flood, refused, letEnd }: Misuse,
): Promise<Crowd> {
  if (flood !== undefined) return flooding(noisy, flood(noisy), { clients, refused });
  const wrong: string[] = [];
  let answers = 0;
  let isRunning = true;
  const client = async (number: number): Promise<void> => {
    while (isRunning) {
      const { status, headers, text } = await (misuse as NonNullable<typeof misuse>)(noisy, number);
      const fault = wrongOf({ status, text, hasRetryAfter: headers.has('retry-after') }, refused);
      if (fault !== undefined) wrong.push(fault);
      answers += 1;
      if (status >= 300) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  };
  const running = Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
  return {
    answers: () => answers,
    stop: async () => {
      isRunning = false;
      await letEnd?.(noisy);
      await running;
      return { wrong };
    },
  };
}

/** From its first answer on: a thread needs a moment to begin. */
async function flooding(
  { base, bearer, id }: Neighbour,
  { path, ...flood }: Flood,
  of: { readonly clients: number; readonly refused: number | undefined },
): Promise<Crowd> {
  crowds += 1;
  const counter = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const work: CrowdWork = {
    ...flood,
    ...of,
    url: `${base}${path}`,
    headers: {
      'x-service-tenant': id,
      ...(flood.isAnonymous === true ? {} : { authorization: `Bearer ${bearer}` }),
      ...(flood.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    pauseMs: PAUSE_MS,
    firstNumber: crowds * NUMBERS_OF_CROWD,
    counter,
  };
  const worker = new Worker(new URL('./crowd.worker.ts', import.meta.url), { workerData: work });
  const reported = once(worker, 'message') as Promise<[CrowdReport]>;
  const answers = () => Atomics.load(new Int32Array(counter), 0);
  await untilTrue(() => answers() > 0, {
    deadlineMs: BEGINS_MS_MAX,
    what: 'the crowd is answered',
  });
  return {
    answers,
    stop: async () => {
      worker.postMessage('stop');
      const [report] = await reported;
      await worker.terminate();
      return report;
    },
  };
}
