/**
 * Sockets. Slow clients are disconnected, malformed HTTP gets our error body too, and a stop drops no accepted request.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { type Ids, isLoopback } from '@cardea/runtime';
import { endAll, errorBody } from '../context/write-answer.ts';
import { AWAITS_CONTINUE } from '../input/body.ts';
import { invalid, type Refusal, refusalOf } from '../refusals/refusal.ts';

/** 4 lines of 16 KiB, like the gateway's limit. */
const HEADERS_MAX_BYTES = 64 * 1024;
const HEADERS_WAIT_MS = 10_000;
/** The time limit for headers and body together. The body also has its own limit. */
const REQUEST_WAIT_MS = 20_000;
/** The time is longer than the gateway's 60 s, so that the gateway never uses a connection that we are closing. */
const KEEP_ALIVE_MS = 75_000;
/** The time-out of a socket without any traffic, longer than the longest poll. */
const STILL_MS = 120_000;
const CHECK_EVERY_MS = 1_000;
const TURNS_BEFORE_CLOSE = 2;

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export type Listening = {
  readonly port: number;
  /** Whether every address that it is bound to is loopback. */
  readonly onLoopback: boolean;
  readonly close: (how: {
    readonly stopWaitMs: number;
    /** Called when the time limit of the stop is over, before the connections are closed. */
    readonly abandon: () => void;
  }) => Promise<void>;
};

/** The port is in use. `npm start` prints this as one sentence. */
export class PortTaken extends Error {
  override readonly name = 'PortTaken';
  readonly port: number;
  constructor(port: number) {
    super(`port ${port} is taken`);
    this.port = port;
  }
}

export async function listen(
  handler: Handler,
  options: { readonly port: number; readonly hosts: readonly string[]; readonly ids: Ids },
): Promise<Listening> {
  const servers: Server[] = [];
  const addresses: string[] = [];
  let { port } = options;
  for (const [index, host] of options.hosts.entries()) {
    const server = serverOf(handler, options.ids);
    try {
      const bound = await bindAny(server, port, host);
      port = bound.port;
      addresses.push(bound.address);
      servers.push(server);
    } catch (error) {
      // The host lacks this address, e.g. `::1` in a container. The other servers listen.
      if (index > 0 && hasNot(error)) continue;
      for (const started of servers) started.close();
      const { code } = error as { code?: string };
      throw code === 'EADDRINUSE' ? new PortTaken(port) : error;
    }
  }
  const onLoopback = addresses.every(isLoopback);
  return { port, onLoopback, close: (how) => closeAll(servers, how) };
}

function serverOf(handler: Handler, ids: Ids): Server {
  const server = createServer(
    {
      maxHeaderSize: HEADERS_MAX_BYTES,
      headersTimeout: HEADERS_WAIT_MS,
      requestTimeout: REQUEST_WAIT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: CHECK_EVERY_MS,
      // The handler refuses such a request, with our error body.
      requireHostHeader: false,
      noDelay: true,
    },
    handler,
  );
  server.timeout = STILL_MS;
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    (request as { [AWAITS_CONTINUE]?: true })[AWAITS_CONTINUE] = true;
    handler(request, response);
  });
  server.on('checkExpectation', handler);
  server.on('clientError', (error: Error & { code?: string }, socket) => {
    // The responses to the requests before these bytes are ready, so they are sent first.
    endAll();
    answerRaw(socket as Socket, refusalOfParser(error.code), ids.next());
  });
  return server;
}

/** The refusal happens before there is a request, so no contract names it. */
const HEADERS_TOO_LARGE: Refusal = {
  status: 431,
  code: 'headers_too_large',
  message: 'The header fields are too large.',
};

const NOT_HTTP = invalid({ field: 'request', rule: 'form' });

function refusalOfParser(code: string | undefined): Refusal {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return refusalOf('request_timeout');
  return code === 'HPE_HEADER_OVERFLOW' ? HEADERS_TOO_LARGE : NOT_HTTP;
}

const REASONS: { readonly [status: number]: string } = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

/** Responds to bytes that are no request, for which Node has no response object. */
function answerRaw(socket: Socket, refusal: Refusal, requestId: string): void {
  if (!socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(errorBody(refusal, requestId));
  const head = [
    `HTTP/1.1 ${refusal.status} ${REASONS[refusal.status] ?? 'Error'}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'X-Content-Type-Options: nosniff',
    `X-Request-Id: ${requestId}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

const ALL_ADDRESSES = '::';
const ALL_OF_IPV4 = '0.0.0.0';
const hasNot = (error: unknown): boolean =>
  ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes((error as { code?: string }).code ?? '');

/** `::` means all addresses, including IPv4, as in Node itself. On a host without IPv6 it means all IPv4 addresses. */
async function bindAny(server: Server, port: number, host: string): Promise<AddressInfo> {
  try {
    return await bind(server, port, host);
  } catch (error) {
    if (host !== ALL_ADDRESSES || !hasNot(error)) throw error;
    return await bind(server, port, ALL_OF_IPV4);
  }
}

function bind(server: Server, port: number, host: string): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, exclusive: true }, () => {
      server.off('error', reject);
      resolve(server.address() as AddressInfo);
    });
  });
}

async function closeAll(
  servers: readonly Server[],
  { stopWaitMs, abandon }: { readonly stopWaitMs: number; readonly abandon: () => void },
): Promise<void> {
  // Data that has arrived is read first. Its connection is then no longer idle, and the request is answered.
  for (let turn = 0; turn < TURNS_BEFORE_CLOSE; turn++) await setImmediate();
  const closed = Promise.all(
    servers.map(
      (server) =>
        new Promise<void>((resolve) => {
          server.close(() => resolve());
          server.closeIdleConnections();
        }),
    ),
  );
  const cut = setTimeout(() => {
    abandon();
    for (const server of servers) server.closeAllConnections();
  }, stopWaitMs);
  await closed;
  clearTimeout(cut);
}
