/**
 * A crowd of clients of a noisy tenant. Where each sends the same request they have a thread of their own: in the
 * thread of the victim their answers would delay its answers too, and its times would be those of this test.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { untilTrue } from '@cardea/testing';
import { type CrowdReport, type Flood, type FloodWork, wrongOf } from './flood.ts';
import type { Misuse, Neighbour } from './neighbours.ts';

/** After a refusal. */
const PAUSE_MS = 5;
const NUMBERS_OF_CROWD = 1_000_000;
const BEGINS_MS_MAX = 60_000;

export type Crowd = {
  readonly answers: () => number;
  readonly stop: () => Promise<CrowdReport>;
};

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
  const work: FloodWork = {
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
