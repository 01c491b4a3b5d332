/** Clients of a noisy tenant: each sends the same request again as soon as it is answered, until it is told to stop. */
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { constants, getPriority, setPriority } from 'node:os';
import { type CrowdReport, type FloodWork, NUMBER, wrongOf } from './flood.ts';

const REPORT_MS = 50;
/** The priority is lowered by this many steps, which leaves a third of the server's share. */
const YIELDS_BY = 5;

yieldToAll();
process.once('message', (work) => void flood(work as FloodWork));
// Without its parent nobody would stop it.
process.once('disconnect', () => process.exit());

/**
 * Sets a lower priority than the server's, among processes and among sessions. With the lowest one, the process would
 * get nothing while others work.
 * A session's priority is separate from that of its processes: `nice` changes the latter alone.
 */
function yieldToAll(): void {
  setPriority(yields(getPriority()));
  try {
    const [, ofServer] =
      /nice (-?\d+)/.exec(readFileSync(`/proc/${process.ppid}/autogroup`, 'utf8')) ?? [];
    writeFileSync('/proc/self/autogroup', String(yields(Number(ofServer))));
  } catch {
    // Here the processor is not divided between sessions.
  }
}

function yields(priority: number): number {
  return Math.min(constants.priority.PRIORITY_LOW, priority + YIELDS_BY);
}

async function flood(work: FloodWork): Promise<void> {
  const { clients, refused, pauseMs } = work;
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const send = sender(work, agent);
  const wrong: string[] = [];
  let answers = 0;
  let isRunning = true;
  const client = async (): Promise<void> => {
    while (isRunning) {
      const { message, text } = await send();
      const status = message.statusCode ?? 0;
      const hasRetryAfter = message.headers['retry-after'] !== undefined;
      const fault = wrongOf({ status, hasRetryAfter, text }, refused);
      if (fault !== undefined) wrong.push(fault);
      answers += 1;
      if (status >= 300) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  };
  const report = (then: () => void = () => {}) =>
    process.send?.({ answers, wrong } satisfies CrowdReport, then);
  process.once('message', () => {
    isRunning = false;
  });
  const reporting = setInterval(() => report(), REPORT_MS);
  await Promise.all(Array.from({ length: clients }, client)).catch((error: Error) => {
    wrong.push(String(error.cause ?? error));
  });
  clearInterval(reporting);
  agent.destroy();
  report(() => process.exit());
}

type Answered = { readonly message: IncomingMessage; readonly text: string };

function sender(
  { url, method, headers, body, firstNumber }: FloodWork,
  agent: Agent,
): () => Promise<Answered> {
  const isNumbered = body?.includes(NUMBER) === true;
  const bytes = body === undefined ? undefined : Buffer.from(body);
  let number = firstNumber;
  return () => {
    number += 1;
    const sent = isNumbered ? body?.replaceAll(NUMBER, String(number)) : bytes;
    return new Promise((resolve, reject) => {
      const own = request(url, { method, headers, agent }, (message) => {
        const chunks: Buffer[] = [];
        message.on('data', (chunk: Buffer) => chunks.push(chunk));
        message.once('error', reject);
        message.once('end', () => resolve({ message, text: Buffer.concat(chunks).toString() }));
      });
      own.once('error', reject);
      own.end(sent);
    });
  };
}
