/**
 * Reserves free ports for servers that are started, killed and started again. The ports are in a range from which the
 * system assigns none itself, and stay reserved until this process ends.
 */
import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';

const HOST = '127.0.0.1';
/** The first port is below the range from which Linux assigns ports, including those of outgoing connections. */
const FIRST = 12_000;
const LAST = 32_000;
const TRIES_MAX = 2_000;

/**
 * Each port is reserved by an abstract socket name of this machine, which is released when the process ends for any
 * reason.
 */
const held: Server[] = [];

export async function freePorts(count: number): Promise<readonly number[]> {
  const ports: number[] = [];
  for (let tried = 0; ports.length < count; tried += 1) {
    if (tried === TRIES_MAX) throw new Error(`there are no ${count} free ports`);
    const port = randomInt(FIRST, LAST);
    if ((await isReserved(port)) && (await isFree(port))) ports.push(port);
  }
  return ports;
}

export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

/** Between the search and the server's start another fixture could find the same port. */
async function isReserved(port: number): Promise<boolean> {
  if (process.platform !== 'linux') return true;
  const name = createServer();
  const isOurs = await listens(name, { path: `\0cardea-port-${port}` });
  if (!isOurs) return false;
  name.unref();
  held.push(name);
  return true;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  if (!(await listens(server, { port, host: HOST }))) return false;
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return true;
}

function listens(
  server: Server,
  at: { readonly path: string } | { readonly port: number; readonly host: string },
): Promise<boolean> {
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen({ ...at, exclusive: true }, () => resolve(true));
  });
}
