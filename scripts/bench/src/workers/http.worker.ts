/** The load generator: a separate process with its own connections. */
import { readFileSync } from 'node:fs';
import { Pool } from 'undici';
import { measureArrivals, measureCalls, serveMeasurements } from '../harness.ts';
import type { Load } from '../http.ts';

const CHECK_EVERY = 100;
/** How much of an unexpected answer is printed. */
const SHOWN_CHARS = 300;

const [path = ''] = process.argv.slice(2);
const { origin, connections, requests, perSecond } = JSON.parse(readFileSync(path, 'utf8')) as Load;
const pool = new Pool(origin, { connections, pipelining: 1 });
let turn = 0;

serveMeasurements((seconds) =>
  perSecond === undefined
    ? measureCalls(connections, seconds, call)
    : measureArrivals(perSecond, seconds, call),
);

async function call(): Promise<void> {
  const asked = requests[turn % requests.length];
  if (asked === undefined) throw new Error('a load has one request or more');
  const checked = turn++ % CHECK_EVERY === 0;
  const { statusCode, body } = await pool.request({
    path: asked.path,
    method: asked.method,
    headers: { 'content-type': 'application/json', ...asked.headers },
    body: asked.body ?? null,
  });
  const text = await body.text();
  if (statusCode !== asked.status) {
    const shown = text.slice(0, SHOWN_CHARS);
    throw new Error(`status ${statusCode}, not ${asked.status}: ${shown}`);
  }
  if (checked && asked.contains !== undefined && !text.includes(asked.contains)) {
    throw new Error('the answer lacks what was expected of it');
  }
}
