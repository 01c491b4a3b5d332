/**
 * What this process offers to other services (`docs/design/approval.md`, Commands for vault;
 * `docs/design/tokens.md`, What services ask identity), on a port that no gateway reaches. A known outcome
 * is 200; anything else tells the caller that the service is of no use at the moment.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { FactsAsked, Mark } from '@cardea/auth';
import { PortTaken, readJson, refusalOfThrow } from '@cardea/http';
import type { Logger } from '@cardea/runtime';
import type { InternalBearers } from './internal-bearer.ts';
import type { Peers } from './service.ts';

const BODY_MAX_BYTES = 256 * 1024;
const REQUEST_WAIT_MS = 10_000;
/** Above the 60 s of whoever calls, so that no call meets a connection that is being closed. */
const KEEP_ALIVE_MS = 75_000;
const STOP_WAIT_MS = 10_000;
const MARKS_MAX = 100;

export type InternalListenerNeeds = {
  readonly offers: Partial<Peers>;
  readonly bearers: InternalBearers;
  readonly log: Logger;
  /** 0 takes a free one. */
  readonly port: number;
  readonly host: string;
};

export type InternalListener = {
  readonly start: () => Promise<{ readonly port: number }>;
  /** Calls in flight get their time. */
  readonly stop: () => Promise<void>;
};

type Asked = {
  readonly params: readonly string[];
  readonly query: URLSearchParams;
  readonly body: object;
  /** The tenant that the caller acts for, as the header says it. */
  readonly tenant: string | undefined;
};
type Call = {
  readonly method: 'GET' | 'POST';
  readonly path: RegExp;
  readonly answer: (asked: Asked) => Promise<object>;
};

export function internalListener(needs: InternalListenerNeeds): InternalListener {
  const calls = callsOf(needs.offers);
  const server = createServer(
    {
      headersTimeout: REQUEST_WAIT_MS,
      requestTimeout: REQUEST_WAIT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
    (request, response) => void respond(request, response),
  );
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      write(response, 200, await answer(needs, calls, request));
    } catch (error) {
      writeFailure(response, error, needs.log);
    }
  };
  return { start: () => bind(server, needs), stop: () => close(server) };
}

/** Ends a call with this status; the code tells the caller's log what was wrong. */
class Refused extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string) {
    super(code);
    this.status = status;
    this.code = code;
  }
}

async function answer(
  { bearers }: InternalListenerNeeds,
  calls: readonly Call[],
  request: IncomingMessage,
): Promise<object> {
  if (!bearers.accepts(request.headers.authorization)) throw new Refused(401, 'unauthenticated');
  const url = new URL(request.url ?? '/', 'http://localhost');
  for (const { method, path, answer: asked } of calls) {
    const found = path.exec(url.pathname);
    if (found === null || method !== request.method) continue;
    const tenant = request.headers['x-service-tenant'];
    return await asked({
      params: found.slice(1),
      query: url.searchParams,
      body: method === 'POST' ? await bodyOf(request) : {},
      tenant: typeof tenant === 'string' ? tenant : undefined,
    });
  }
  throw new Refused(404, 'not_found');
}

function callsOf({ introspect, ended, facts, jwks, approval }: Partial<Peers>): readonly Call[] {
  const calls: Call[] = [];
  if (jwks !== undefined) {
    calls.push({ method: 'GET', path: /^\/internal\/v1\/jwks$/, answer: jwks });
  }
  if (introspect !== undefined) {
    calls.push({
      method: 'POST',
      path: /^\/internal\/v1\/introspect$/,
      answer: async ({ body }) => ({ key: (await introspect(textIn(body, 'token'))) ?? null }),
    });
  }
  if (ended !== undefined) {
    calls.push({
      method: 'POST',
      path: /^\/internal\/v1\/ended$/,
      answer: async ({ body }) => ({ ended: await ended(marksIn(body)) }),
    });
  }
  if (facts !== undefined) {
    calls.push({
      method: 'POST',
      path: /^\/internal\/v1\/facts$/,
      answer: ({ body, tenant }) => {
        const asked = factsIn(body);
        sameTenant(tenant, asked.tenantId);
        return facts(asked);
      },
    });
  }
  if (approval !== undefined) calls.push(...approvalCalls(approval));
  return calls;
}

const approvalCalls = (approval: Peers['approval']): readonly Call[] => [
  {
    method: 'POST',
    path: /^\/internal\/v1\/approval\/open$/,
    answer: ({ body, tenant }) => {
      sameTenant(tenant, textIn(body, 'tenant_id'));
      return approval.open(body);
    },
  },
  {
    method: 'GET',
    path: /^\/internal\/v1\/approval\/requests\/([^/]+)$/,
    answer: ({ params: [id = ''], query, tenant }) => {
      const asked = query.get('tenant_id') ?? '';
      sameTenant(tenant, asked);
      return approval.get(asked, decodeURIComponent(id));
    },
  },
  {
    method: 'POST',
    path: /^\/internal\/v1\/approval\/requests\/([^/]+)\/consume$/,
    answer: ({ params: [id = ''], body, tenant }) => {
      sameTenant(tenant, textIn(body, 'tenant_id'));
      return approval.consume(decodeURIComponent(id), body);
    },
  },
];

/** Said twice, from two places of the caller: whoever mixes tenants up is refused here too. */
function sameTenant(header: string | undefined, asked: string): void {
  if (asked === '' || header !== asked) throw new Refused(401, 'tenant_mismatch');
}

function textIn(body: object, name: string): string {
  const value = (body as { readonly [name: string]: unknown })[name];
  if (typeof value !== 'string' || value === '') throw new Refused(400, 'invalid_request');
  return value;
}

function marksIn(body: object): readonly Mark[] {
  const { marks } = body as { readonly marks?: unknown };
  const isMark = (each: unknown): each is Mark =>
    typeof (each as Mark | null)?.kind === 'string' && typeof (each as Mark).id === 'string';
  if (!Array.isArray(marks) || marks.length > MARKS_MAX || !marks.every(isMark)) {
    throw new Refused(400, 'invalid_request');
  }
  return marks;
}

function factsIn(body: object): FactsAsked {
  const { agentId, sessionId, userId } = body as Partial<FactsAsked>;
  const isId = (id: unknown) => id === undefined || (typeof id === 'string' && id !== '');
  if (![agentId, sessionId, userId].every(isId)) throw new Refused(400, 'invalid_request');
  return { ...body, tenantId: textIn(body, 'tenantId') };
}

async function bodyOf(request: IncomingMessage): Promise<object> {
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
    throw new Refused(415, 'unsupported_media_type');
  }
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += (chunk as Buffer).length;
    if (length > BODY_MAX_BYTES) throw new Refused(413, 'body_too_large');
    chunks.push(chunk as Buffer);
  }
  const read = readJson(Buffer.concat(chunks));
  if (!('value' in read) || typeof read.value !== 'object' || read.value === null) {
    throw new Refused(400, 'invalid_request');
  }
  return read.value;
}

function writeFailure(response: ServerResponse, error: unknown, log: Logger): void {
  if (response.headersSent || response.destroyed) return;
  const { status, code } = error instanceof Refused ? error : refusalOfThrow(error);
  if (status === 500) log.error({ err: error }, 'an internal call failed');
  write(response, status, bodyOfFailure(code));
}

const bodyOfFailure = (code: string) => ({ error: { code } });

function write(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    // What is left of a body that nobody reads would be taken for the next request.
    ...(status === 413 || status === 401 ? { Connection: 'close' } : {}),
  });
  response.end(text);
}

function bind(server: Server, { port, host }: InternalListenerNeeds): Promise<{ port: number }> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: { code?: string }) =>
      reject(error.code === 'EADDRINUSE' ? new PortTaken(port) : error),
    );
    server.listen({ port, host, exclusive: true }, () => {
      const address = server.address();
      resolve({ port: typeof address === 'object' && address !== null ? address.port : port });
    });
  });
}

async function close(server: Server): Promise<void> {
  const cut = setTimeout(() => server.closeAllConnections(), STOP_WAIT_MS);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
  clearTimeout(cut);
}
