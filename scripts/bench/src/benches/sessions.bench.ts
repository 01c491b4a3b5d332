/**
 * B5, B6, B7: signing in compared with bare password hashes, refreshing compared with a server that does
 * nothing and with a bare append.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Bench, type BenchContext, type Row, type Side, workerSide } from '../harness.ts';
import { httpSide } from '../http.ts';
import { expressNoop, started } from '../started.ts';

const SERVER = new URL('../workers/identity.worker.ts', import.meta.url);
const SESSION_CLIENTS = new URL('../workers/session-clients.worker.ts', import.meta.url);
const ARGON2 = new URL('../workers/argon2.worker.ts', import.meta.url);
const APPEND = new URL('../workers/append.worker.ts', import.meta.url);
const CLIENTS = 64;
const CLIENTS_SMOKE = 8;
const clientsOf = ({ smoke }: BenchContext): number => (smoke ? CLIENTS_SMOKE : CLIENTS);
const STORM = 2;
const WARM_SECONDS = 1;

export const benches: readonly Bench[] = [
  { id: 'B5', title: 'logins, an account per client', run: logins },
  { id: 'B6', title: 'refresh while logins storm at twice what the hashes allow', run: storm },
  { id: 'B7', title: 'refreshes of 64 clients', run: refreshes },
];

type Ready = { readonly origin: string; readonly accounts: string; readonly hashing: string };

/**
 * A session may be refreshed 300 times a minute. There are more sessions than clients, so the rate stays below that.
 */
const SESSIONS = 1024;

type Hashes = 'as configured' | 'cheap';

/**
 * Starts identity. A smoke run uses one process with cheap hashes for all benches, because a busy machine refuses
 * expensive ones.
 */
const identity = (
  context: BenchContext,
  count = clientsOf(context),
  hashes: Hashes = context.smoke ? 'cheap' : 'as configured',
): Promise<Ready> => context.shared('identity', (within) => startIdentity(within, count, hashes));

async function startIdentity(context: BenchContext, count: number, hashes: Hashes): Promise<Ready> {
  const folder = mkdtempSync(join(tmpdir(), 'cardea-accounts-'));
  context.onEnd(() => rmSync(folder, { recursive: true, force: true }));
  const said = await started<Omit<Ready, 'accounts'> & { accounts: unknown }>(
    context,
    SERVER,
    await context.database(),
    String(count),
    hashes,
  );
  const accounts = join(folder, 'accounts.json'); // Passed in a file, because it contains passwords.
  writeFileSync(accounts, JSON.stringify(said.accounts), { mode: 0o600 });
  return { ...said, accounts };
}

const clients = (context: BenchContext, { origin, accounts }: Ready, ...how: readonly string[]) =>
  workerSide(context, how[0] ?? '', SESSION_CLIENTS, [
    origin,
    accounts,
    String(clientsOf(context)),
    ...how,
  ]);

async function logins(context: BenchContext): Promise<readonly Row[]> {
  const server = await identity(context);
  const subject = await clients(context, server, 'login');
  const floor = await workerSide(context, 'bare argon2', ARGON2, [server.hashing]);
  return [await context.compare({ id: 'B5', subject, floor, goal: { at_least: 0.85 } })];
}

async function refreshes(context: BenchContext): Promise<readonly Row[]> {
  const server = await identity(context, context.smoke ? CLIENTS_SMOKE : SESSIONS, 'cheap');
  const subject = await clients(context, server, 'refresh');
  const floor = await httpSide(context, 'Express no-op POST', {
    origin: await expressNoop(context, '{"access_token":"x"}'),
    connections: clientsOf(context),
    requests: [{ method: 'POST', path: '/', body: '{"refresh_token":"rt_x"}', status: 200 }],
  });
  const append = await workerSide(context, 'append of one event', APPEND, [
    'store',
    await context.database(),
    String(clientsOf(context)),
  ]);
  return [
    await context.compare({ id: 'B7 no-op', subject, floor, goal: { at_least: 0.3 } }),
    await context.compare({ id: 'B7 append', subject, floor: append, goal: { at_least: 0.15 } }),
  ];
}

/** Measures the same clients on the same server, with and without a login storm at the same time. */
async function storm(context: BenchContext): Promise<readonly Row[]> {
  const server = await identity(context);
  const refresh = await clients(context, server, 'refresh', 'slowly');
  const capacity = await (await clients(context, server, 'login')).measure(WARM_SECONDS);
  const rate = String(Math.ceil(capacity.per_second * STORM));
  const flood = await clients(context, server, 'storm', rate);
  const inStorm: Side = {
    name: 'refresh in a login storm',
    measure: async (seconds) => {
      const [measured, stormed] = await Promise.all([
        refresh.measure(seconds),
        flood.measure(seconds),
      ]);
      return { ...measured, errors: measured.errors + stormed.errors };
    },
  };
  const calm: Side = { ...refresh, name: 'refresh in calm' };
  return [
    await context.compare({
      id: 'B6',
      subject: inStorm,
      floor: calm,
      figure: 'p99_ms',
      goal: { at_most: 3 },
    }),
  ];
}
