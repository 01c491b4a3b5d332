/** Minimal services for a gateway: one records requests, one closes connections, one never answers. */
import { createServer, type IncomingMessage } from 'node:http';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net';

export type Seen = {
  readonly method: string;
  readonly url: string;
  /** Names in their original spelling. */
  readonly headers: readonly (readonly [string, string])[];
  readonly bodyBytes: number;
};

export type Upstream = { readonly address: string; readonly seen: Seen[]; close(): Promise<void> };

/** Answers 200 to every complete request. */
export async function remembering(): Promise<Upstream> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    let bodyBytes = 0;
    request.on('data', (chunk: Buffer) => {
      bodyBytes += chunk.length;
    });
    request.on('end', () => {
      seen.push({
        method: request.method ?? '',
        url: request.url ?? '',
        headers: headersOf(request),
        bodyBytes,
      });
      response.setHeader('X-Served-By', 'remembering');
      response.end('{}');
    });
  });
  return upstream(server, seen);
}

/** Accepts a request and closes the connection without an answer; records only methods. */
export const dying = (): Promise<Upstream> =>
  bare((socket, text) => {
    socket.destroy();
    return text;
  });

/** Accepts a request and never answers. */
export const mute = (): Promise<Upstream> => bare((_, text) => text);

/** Closes in the middle of its response's header. */
export const breakingOff = (): Promise<Upstream> =>
  bare((socket, text) => {
    socket.end('HTTP/1.1 200 OK\r\nContent-');
    return text;
  });

async function bare(meet: (socket: Socket, text: string) => string): Promise<Upstream> {
  const seen: Seen[] = [];
  const open = new Set<Socket>();
  const server = createTcpServer((socket) => {
    open.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => open.delete(socket));
    socket.once('data', (chunk) => {
      const [method = '', url = ''] = meet(socket, chunk.toString('latin1')).split(' ');
      seen.push({ method, url, headers: [], bodyBytes: 0 });
    });
  });
  const made = await upstream(server, seen);
  return {
    ...made,
    close: () => {
      for (const socket of open) socket.destroy();
      return made.close();
    },
  };
}

async function upstream(server: Server, seen: Seen[]): Promise<Upstream> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        if ('closeAllConnections' in server)
          (server as { closeAllConnections(): void }).closeAllConnections();
      }),
  };
}

function headersOf({ rawHeaders }: IncomingMessage): readonly (readonly [string, string])[] {
  return rawHeaders.flatMap((name, at) =>
    at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? ''] as const] : [],
  );
}
