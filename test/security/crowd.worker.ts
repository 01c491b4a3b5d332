/** Clients of a noisy tenant: each sends the same request again as soon as it is answered, until it is told to stop. */
import { Agent, type IncomingMessage, request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';
import { type CrowdReport, type FloodWork, NUMBER, wrongOf } from './flood.ts';

const { url, method, headers, body, clients, refused, pauseMs, firstNumber, counter } =
  workerData as FloodWork;
const answered = new Int32Array(counter);
const agent = new Agent({ keepAlive: true, maxSockets: clients });
const isNumbered = body?.includes(NUMBER) === true;
const wrong: string[] = [];
let number = firstNumber;
let isRunning = true;

function send(): Promise<{ readonly message: IncomingMessage; readonly text: string }> {
  number += 1;
  const sent = isNumbered ? body?.replaceAll(NUMBER, String(number)) : body;
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
}

async function client(): Promise<void> {
  while (isRunning) {
    const { message, text } = await send();
    const status = message.statusCode ?? 0;
    const hasRetryAfter = message.headers['retry-after'] !== undefined;
    const fault = wrongOf({ status, hasRetryAfter, text }, refused);
    if (fault !== undefined) wrong.push(fault);
    Atomics.add(answered, 0, 1);
    if (status >= 300) await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

parentPort?.once('message', () => {
  isRunning = false;
});
await Promise.all(Array.from({ length: clients }, client)).catch((error: Error) => {
  wrong.push(String(error.cause ?? error));
});
agent.destroy();
parentPort?.postMessage({ wrong } satisfies CrowdReport);
