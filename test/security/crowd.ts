/**
 * Clients of a noisy tenant, in a separate process with a lower priority than all others. In the thread of the victim,
 * their responses would delay the victim's. With the same priority, their own work would delay the server, which does
 * not happen if clients have their own computers.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { untilTrue } from '@cardea/testing';
import { type CrowdReport, type Flood, type FloodWork, wrongOf } from './flood.ts';
import type { Misuse, Neighbour } from './neighbours.ts';

/** The pause after a refusal. */
const PAUSE_MS = 5;
/** Another address than the victim's: requests without credentials wait in turns between addresses. */
const ADDRESS = '198.51.100.7';
const NUMBERS_OF_CROWD = 1_000_000;
const BEGINS_MS_MAX = 60_000;
const WORKER = fileURLToPath(new URL('./crowd.worker.ts', import.meta.url));

export type Crowd = {
  readonly answers: () => number;
  readonly stop: () => Promise<CrowdReport>;
};

let crowds = 0;

/** Starts clients of the noisy tenant, which run until they are stopped. */
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

/** Resolves after the first requests of the process, because its start takes a moment. */
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
      'x-forwarded-for': ADDRESS,
      ...(flood.isAnonymous === true ? {} : { authorization: `Bearer ${bearer}` }),
      ...(flood.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    pauseMs: PAUSE_MS,
    firstNumber: crowds * NUMBERS_OF_CROWD,
  };
  // The child has a separate session, because Linux may divide the processor between sessions before it considers
  // priorities.
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

/** Collects the reports that the process sends repeatedly and at its end. */
function reportsOf(child: ChildProcess): { last: CrowdReport | undefined } {
  const reports: { last: CrowdReport | undefined } = { last: undefined };
  child.on('message', (report) => {
    reports.last = report as CrowdReport;
  });
  return reports;
}
