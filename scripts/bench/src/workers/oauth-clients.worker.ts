/** Browsers that are signed in and authorize repeatedly. For comparison, the same person logs in each time. */
import { readFileSync } from 'node:fs';
import { Pool } from 'undici';
import { measureCalls, serveMeasurements } from '../harness.ts';
import { type SignedInBrowser, signedInBrowser } from '../subjects/signed-in-browser.ts';
import type { OAuthServer } from './oauth.worker.ts';

const CLIENTS = 8;
const [path = '', how = 'login'] = process.argv.slice(2);
const server = JSON.parse(readFileSync(path, 'utf8')) as OAuthServer;
const pool = new Pool(server.origin, { connections: CLIENTS });
const browsers = new Map<number, SignedInBrowser>();
const { clientIds } = server;
let turn = 0;

/** Uses each application in turn. */
const nextClientId = () => clientIds[turn++ % clientIds.length] ?? '';

async function logIn(): Promise<void> {
  const { email, password, tenant } = server;
  const { statusCode, body } = await pool.request({
    path: '/api/v1/auth/login',
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-service-tenant': tenant },
    body: JSON.stringify({ email, password }),
  });
  await body.dump();
  if (statusCode !== 200) throw new Error(`login answered ${statusCode}`);
}

serveMeasurements(async (seconds) => {
  if (how === 'login') return measureCalls(CLIENTS, seconds, logIn);
  for (let client = 0; client < CLIENTS; client += 1) {
    if (browsers.has(client)) continue;
    browsers.set(client, await signedInBrowser(pool, server, nextClientId()));
  }
  return measureCalls(CLIENTS, seconds, async (client) => {
    await browsers.get(client)?.tokensOf(nextClientId());
  });
});
