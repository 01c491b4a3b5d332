/** Clients that sign in or refresh, each with a separate account. */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { type Measured, measureCalls, serveMeasurements } from '../harness.ts';

const SLOW_CLIENTS = 8;
const SLOW_PAUSE_MS = 20;

type Account = { readonly tenant: string; readonly email: string; readonly password: string };
const [origin = '', file = '', count = '1', how = 'login', detail = ''] = process.argv.slice(2);
const clients = Number(count);
const accounts = JSON.parse(readFileSync(file, 'utf8')) as Account[];
const pool = new Pool(origin, { connections: how === 'storm' ? 512 : clients });
const tokens = new Map<number, string>();

async function post(path: string, body: object, tenant: string) {
  const answer = await pool.request({
    path,
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-service-tenant': tenant },
    body: JSON.stringify(body),
  });
  return { status: answer.statusCode, body: (await answer.body.json()) as Record<string, string> };
}

async function logIn(client: number): Promise<string> {
  const { tenant, email, password } = accounts[client % accounts.length] as Account;
  const { status, body } = await post('/api/v1/auth/login', { email, password }, tenant);
  if (status !== 200) throw new Error(`login answered ${status}`);
  return body['refresh_token'] ?? '';
}

const turns = new Map<number, number>();
let logins = 0;

/** A client cycles through its accounts: every `among`-th one, because `among` clients share them. */
async function refresh(client: number, among = clients): Promise<void> {
  const turn = turns.get(client) ?? 0;
  turns.set(client, turn + 1);
  const at = (client + turn * among) % accounts.length;
  const { tenant } = accounts[at] as Account;
  const sent = tokens.get(at) ?? '';
  const { status, body } = await post('/api/v1/auth/refresh', { refresh_token: sent }, tenant);
  if (status !== 200) throw new Error(`refresh answered ${status}`);
  tokens.set(at, body['refresh_token'] ?? '');
}

/**
 * Sends logins at a fixed rate, whatever the responses are. Surplus logins have to be refused with 503, and must not
 * hang.
 */
async function storm(seconds: number): Promise<Measured> {
  const underWay: Promise<void>[] = [];
  let errors = 0;
  const one = async (client: number): Promise<void> => {
    const { tenant, email, password } = accounts[client % accounts.length] as Account;
    const { status } = await post('/api/v1/auth/login', { email, password }, tenant);
    if (status !== 200 && status !== 503) errors += 1;
  };
  const end = performance.now() + seconds * 1000;
  for (let client = 0; performance.now() < end; client++) {
    underWay.push(one(client));
    await pause(1000 / Number(detail));
  }
  await Promise.all(underWay);
  return { per_second: underWay.length / seconds, p50_ms: 0, p99_ms: 0, errors };
}

serveMeasurements(async (seconds) => {
  switch (how) {
    case 'storm':
      return storm(seconds);
    case 'refresh': {
      const slowly = detail === 'slowly';
      // A first sign-in must not be measured as a refresh.
      for (const at of accounts.keys()) if (!tokens.has(at)) tokens.set(at, await logIn(at));
      if (!slowly) return measureCalls(clients, seconds, refresh);
      const times: number[] = [];
      const measured = await measureCalls(SLOW_CLIENTS, seconds, async (client) => {
        const began = performance.now();
        await refresh(client, SLOW_CLIENTS);
        times.push(performance.now() - began);
        await pause(SLOW_PAUSE_MS);
      });
      times.sort((a, b) => a - b);
      const at = (share: number) => times[Math.floor(times.length * share)] ?? Number.NaN;
      return { ...measured, p50_ms: at(0.5), p99_ms: at(0.99) };
    }
    default: {
      // If there are more accounts than clients, logins use them in turn, so that no account gets too many sessions.
      const next = (client: number) => (detail === 'in turn' ? logins++ : client);
      return measureCalls(clients, seconds, async (client) => void (await logIn(next(client))));
    }
  }
});
