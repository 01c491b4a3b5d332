/**
 * A crowd of clients of a noisy tenant, in a process of its own that yields to all others. In the thread of the victim
 * their answers would delay its answers too. With an equal right to the processor, their own work would delay the
 * server, as it never does where clients have computers of their own.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { untilTrue } from '@cardea/testing';
import { type CrowdReport, type Flood, type FloodWork, wrongOf } from './flood.ts';
import type { Misuse, Neighbour } from './neighbours.ts';

/** After a refusal. */
const PAUSE_MS = 5;
const NUMBERS_OF_CROWD = 1_000_000;
const BEGINS_MS_MAX = 60_000;
const WORKER = fileURLToPath(new URL('./crowd.worker.ts', import.meta.url));

export type Crowd = {
  readonly answers: () => number;
  readonly stop: () => Promise<CrowdReport>;
};

let crowds = 0;

/** Clients of the noisy tenant, until they are stopped. */
export async function crowd(noisy: Neighbour, of: Misuse): Promise<Crowd> {
  const { clients, misuse, flood, refused } = of;
  if (flood !== undefined) return flooding(noisy, await flood(noisy), of);
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
      await running;
      return { answers, wrong };
    },
  };
}

/** From its first requests on: a process needs a moment to begin. */
async function flooding(
  noisy: Neighbour,
  { path, ...flood }: Flood,
  { clients, refused, letEnd }: Pick<Misuse, 'clients' | 'refused' | 'letEnd'>,
): Promise<Crowd> {
  const { base, bearer, id } = noisy;
  crowds += 1;
  const work: FloodWork = {
    ...flood,
    clients,
    refused,
    url: `${base}${path}`,
    headers: {
      'x-service-tenant': id,
      ...(flood.isAnonymous === true ? {} : { authorization: `Bearer ${bearer}` }),
      ...(flood.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    pauseMs: PAUSE_MS,
    firstNumber: crowds * NUMBERS_OF_CROWD,
  };
  // A session of its own, because Linux may divide the processor between sessions before it looks at priorities.
  const child = fork(WORKER, { detached: true, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  const reports = reportsOf(child);
  child.send(work);
  await untilTrue(() => reports.last !== undefined, {
    deadlineMs: BEGINS_MS_MAX,
    what: 'the crowd is under way',
  });
  return {
    answers: () => reports.last?.answers ?? 0,
    stop: async () => {
      const exited = once(child, 'exit');
      child.send('stop');
      await letEnd?.(noisy);
      await exited;
      process.off('exit', end);
      if (reports.last === undefined) throw new Error('the crowd ended without a report');
      return reports.last;
    },
  };
}

/** The crowd reports again and again, and at its end. */
function reportsOf(child: ChildProcess): { last: CrowdReport | undefined } {
  const reports: { last: CrowdReport | undefined } = { last: undefined };
  child.on('message', (report) => {
    reports.last = report as CrowdReport;
  });
  return reports;
}
