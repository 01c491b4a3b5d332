/**
 * One address for all replicas of a service, like a Kubernetes Service: each connection goes to the next
 * replica, and replicas that do not accept it are skipped.
 */
import { connect, createServer, type Server, type Socket } from 'node:net';

type Replicas = { readonly host: string; readonly ports: readonly number[] };

export type ServiceAddress = { readonly port: number; close(): Promise<void> };

export async function serviceAddress(
  port: number,
  { host, ports }: Replicas,
): Promise<ServiceAddress> {
  const open = new Set<Socket>();
  let turn = 0;
  const server: Server = createServer((client) => {
    open.add(client);
    client.on('error', () => client.destroy());
    client.once('close', () => open.delete(client));
    turn += 1;
    const next = [...ports.slice(turn % ports.length), ...ports];
    pass(client, { host, ports: next.slice(0, ports.length) });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
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
function pass(client: Socket, { host, ports: [port, ...others] }: Replicas): void {
  if (port === undefined) {
    client.destroy();
    return;
  }
  const behind = connect({ port, host });
  const next = (): void => pass(client, { host, ports: others });
  behind.once('error', next);
  client.once('close', () => behind.destroy());
  behind.once('connect', () => {
    behind.off('error', next);
    behind.on('error', () => client.destroy());
    behind.once('close', () => client.destroy());
    client.pipe(behind).pipe(client);
  });
}
