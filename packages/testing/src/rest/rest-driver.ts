/**
 * Calls a running instance as a client would, and checks every response against the contract of its endpoint. A shape
 * or a refusal code that the contract does not name fails the test.
 */
import { checkAnswer } from './contract-check.ts';
import { type EndpointValue, findEndpoint } from './endpoint-match.ts';

export type Call = {
  /** Sent as JSON. A string or bytes are sent unchanged. */
  readonly body?: unknown;
  readonly bearer?: string | undefined;
  readonly tenant?: string | undefined;
  readonly query?: { readonly [name: string]: string | number | boolean | undefined };
  readonly headers?: { readonly [name: string]: string };
  readonly signal?: AbortSignal;
};

export type RestAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; undefined when it is empty or no JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into bodies whose shape the contract check has just proven
  readonly body: any;
  /** The `error.code` of a refusal. */
  readonly code: string | undefined;
};

export type RestDriver = {
  readonly baseUrl: string;
  call(method: string, path: string, call?: Call): Promise<RestAnswer>;
  get(path: string, call?: Call): Promise<RestAnswer>;
  post(path: string, body?: unknown, call?: Call): Promise<RestAnswer>;
  put(path: string, body?: unknown, call?: Call): Promise<RestAnswer>;
  patch(path: string, body?: unknown, call?: Call): Promise<RestAnswer>;
  delete(path: string, call?: Call): Promise<RestAnswer>;
  /** Returns a driver that uses these values as defaults of every call. */
  as(caller: { bearer?: string | undefined; tenant?: string | undefined }): RestDriver;
};

export type RestDriverOptions = {
  readonly baseUrl: string;
  /** Endpoint values of the services under test. Without them shapes are not checked. */
  readonly endpoints?: readonly EndpointValue[];
  readonly caller?: { readonly bearer?: string | undefined; readonly tenant?: string | undefined };
};

const ANSWER_WAIT_MS = 40_000;

export function restDriver(options: RestDriverOptions): RestDriver {
  const { baseUrl, endpoints, caller } = options;
  const call = async (method: string, path: string, given: Call = {}): Promise<RestAnswer> => {
    const url = new URL(path, baseUrl);
    for (const [name, value] of Object.entries(given.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const response = await fetch(url, {
      method,
      headers: headersOf({ ...caller, ...given }),
      ...bodyOf(given.body),
      redirect: 'manual',
      signal: given.signal ?? AbortSignal.timeout(ANSWER_WAIT_MS),
    });
    const answer = await read(response);
    if (endpoints !== undefined) {
      checkAnswer(
        findEndpoint(endpoints, method, url.pathname),
        `${method} ${url.pathname}`,
        answer,
      );
    }
    return answer;
  };
  return {
    baseUrl,
    call,
    get: (path, given) => call('GET', path, given),
    post: (path, body, given) => call('POST', path, { ...given, body }),
    put: (path, body, given) => call('PUT', path, { ...given, body }),
    patch: (path, body, given) => call('PATCH', path, { ...given, body }),
    delete: (path, given) => call('DELETE', path, given),
    as: (next) => restDriver({ ...options, caller: { ...caller, ...next } }),
  };
}

function headersOf({ bearer, tenant, body, headers }: Call): Headers {
  const all = new Headers();
  if (body !== undefined) all.set('content-type', 'application/json');
  if (bearer !== undefined) all.set('authorization', `Bearer ${bearer}`);
  if (tenant !== undefined) all.set('x-service-tenant', tenant);
  for (const [name, value] of Object.entries(headers ?? {})) all.set(name, value);
  return all;
}

function bodyOf(body: unknown): { body?: string | Uint8Array<ArrayBuffer> } {
  if (body === undefined) return {};
  if (typeof body === 'string') return { body };
  if (body instanceof Uint8Array) return { body: new Uint8Array(body) };
  return { body: JSON.stringify(body) };
}

/** Does not match `application/x-ndjson`, which is lines of JSON. */
const JSON_TYPE = /\bjson\b/;

async function read(response: Response): Promise<RestAnswer> {
  const text = await response.text();
  const isJson = JSON_TYPE.test(response.headers.get('content-type') ?? '');
  const body = isJson && text !== '' ? JSON.parse(text) : undefined;
  const error = body?.error;
  const code = typeof error === 'string' ? error : error?.code;
  return { status: response.status, headers: response.headers, text, body, code };
}
