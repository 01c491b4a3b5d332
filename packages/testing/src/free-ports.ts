/** Ports that nobody has; all are held until the last is found, so that they differ. */
import { type AddressInfo, createServer, type Server } from 'node:net';

const HOST = '127.0.0.1';

export async function freePorts(count: number): Promise<readonly number[]> {
  const held: Server[] = [];
  for (let index = 0; index < count; index += 1) {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
    held.push(server);
  }
  const ports = held.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(
    held.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))),
  );
  return ports;
}

export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}
