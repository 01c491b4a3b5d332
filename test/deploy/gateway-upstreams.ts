/** Minimal services for a gateway: one records requests, one closes connections, one never answers. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import {
  type AddressInfo,
  connect,
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

/** The code of a process that only has a socket, until it is told to answer. Nobody accepts the connections. */
const ACCEPTING_WHEN_TOLD = `
  const { readSync, writeSync } = require('node:fs');
  const server = require('node:http').createServer((request, response) => {
    request.resume().on('end', () => response.end('{}'));
  });
  server.listen({ port: Number(process.argv[2]), host: process.argv[1], backlog: 1 }, () => {
    writeSync(1, String(server.address().port) + '\\n');
    readSync(0, Buffer.alloc(1));
  });`;
/** More connections than a queue of one contains. The kernel drops all further ones. */
const CONNECTIONS_WAITING = 8;

/** An address that does not respond, like that of a removed container: connections are neither made nor refused. */
export async function gone(
  at: { readonly host: string; readonly port: number } = { host: '127.0.0.1', port: 0 },
): Promise<Upstream & { comeBack(): void }> {
  const args = ['-e', ACCEPTING_WHEN_TOLD, at.host, String(at.port)];
  const child = spawn(process.execPath, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(line.toString('utf8'));
  const waiting = Array.from({ length: CONNECTIONS_WAITING }, () =>
    connect(port, at.host).on('error', () => {}),
  );
  await once(waiting[0] as Socket, 'connect');
  return {
    address: `${at.host}:${port}`,
    seen: [],
    comeBack: () => child.stdin.end('.'),
    close: async () => {
      for (const socket of waiting) socket.destroy();
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

/** Closes the connection in the middle of the response's header. */
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
