/**
 * A proxy in front of a server at which connections can be made to fail: cut, frozen, or not accepted. The server only
 * notices that its clients are gone.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export type TcpProxy = {
  readonly port: number;
  /** Resets every connection. New ones work. */
  cut(): void;
  /** Connections stay open and new ones are accepted, but no data passes in either direction until it is thawed. */
  freeze(): void;
  thaw(): void;
  /** Existing connections stay open and never pass data again. New ones work. */
  strand(): void;
  /** Cuts all connections and refuses new ones, like a server that is down. */
  shut(): Promise<void>;
  /** Opens the proxy again on the same port. */
  open(): Promise<void>;
  close(): Promise<void>;
};

const LOOPBACK = '127.0.0.1';

/** Port 0 selects a free one. */
export async function tcpProxy(to: { readonly port: number }, port = 0): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const stranded = new WeakSet<Socket>();
  let isFrozen = false;
  let server: Server | undefined;

  const take = (client: Socket): void => {
    const inner = connect(to.port, LOOPBACK);
    const pair = [client, inner] as const;
    for (const socket of pair) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => {}); // The peer detects the failure by the end of its own connection.
      socket.on('close', () => {
        sockets.delete(socket);
        for (const each of pair) each.destroy();
      });
      if (isFrozen) socket.pause();
    }
    client.on('data', (bytes) => inner.write(bytes));
    inner.on('data', (bytes) => client.write(bytes));
  };
  const listen = async (on: number): Promise<number> => {
    const listening = createServer({ pauseOnConnect: false }, take);
    listening.listen(on, LOOPBACK);
    await once(listening, 'listening');
    server = listening;
    return (listening.address() as AddressInfo).port;
  };
  const cut = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  const shut = async (): Promise<void> => {
    if (server === undefined) return;
    const closed = once(server, 'close');
    server.close();
    server = undefined;
    cut();
    await closed;
  };

  const own = await listen(port);
  return {
    port: own,
    cut,
    freeze: () => {
      isFrozen = true;
      for (const socket of sockets) socket.pause();
    },
    thaw: () => {
      isFrozen = false;
      for (const socket of sockets) if (!stranded.has(socket)) socket.resume();
    },
    strand: () => {
      for (const socket of sockets) {
        stranded.add(socket);
        socket.pause();
      }
    },
    shut,
    open: async () => {
      if (server === undefined) await listen(own);
    },
    close: shut,
  };
}
