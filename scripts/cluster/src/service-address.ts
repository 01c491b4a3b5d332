/**
 * One address for all replicas of a service, like a Kubernetes Service: each connection goes to the next
 * replica, and replicas that do not accept it are skipped.
 */
import { connect, createServer, type Server, type Socket } from 'node:net';

const HOST = '127.0.0.1';

export type ServiceAddress = { readonly port: number; close(): Promise<void> };

export async function serviceAddress(
  port: number,
  replicas: readonly number[],
): Promise<ServiceAddress> {
  const open = new Set<Socket>();
  let turn = 0;
  const server: Server = createServer((client) => {
    open.add(client);
    client.on('error', () => client.destroy());
    client.once('close', () => open.delete(client));
    turn += 1;
    pass(client, [...replicas.slice(turn % replicas.length), ...replicas], replicas.length);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, HOST, resolve);
  });
  return {
    port,
    close: () => {
      for (const client of open) client.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** The first replica that accepts the connection keeps it to its end. */
function pass(client: Socket, [port, ...others]: readonly number[], left: number): void {
  if (port === undefined || left === 0) {
    client.destroy();
    return;
  }
  const behind = connect({ port, host: HOST });
  const next = (): void => pass(client, others, left - 1);
  behind.once('error', next);
  client.once('close', () => behind.destroy());
  behind.once('connect', () => {
    behind.off('error', next);
    behind.on('error', () => client.destroy());
    behind.once('close', () => client.destroy());
    client.pipe(behind).pipe(client);
  });
}
