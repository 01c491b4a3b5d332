/**
 * Calls services in other processes at their internal listeners. Every call can be repeated safely, so one that failed
 * is sent once more. After that a call without a response is {@link PeerUnavailable}, and a response that does not fit
 * the call's contract is {@link UnexpectedAnswer}.
 */
import { approvalCalls, authzCalls, type InternalCall, identityCalls } from '@cardea/contracts';
import { answerValidator } from '@cardea/http';
import type { Clock, Logger, Settings } from '@cardea/runtime';
import { Agent } from 'undici';
import type { InternalBearers } from './internal-bearer.ts';
import { peerChanges } from './peer-changes.ts';
import { PeerUnavailable, UnexpectedAnswer } from './peer-unavailable.ts';
import type { Peers } from './peers.ts';

const CONNECT_WAIT_MS = 2_000;
const ANSWER_WAIT_MS = 10_000;
const TRIES_MAX = 2;
const CONNECTIONS_PER_PEER = 32;
/** The time is below the 75 s of the server. */
const KEEP_ALIVE_MS = 60_000;
const ANSWER_MAX_BYTES = 1024 * 1024;

export type RemotePeersDependencies = {
  readonly settings: Pick<
    Settings,
    'IDENTITY_INTERNAL_URL' | 'APPROVAL_INTERNAL_URL' | 'AUTHZ_INTERNAL_URL'
  >;
  readonly bearers: InternalBearers;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Logger;
};

export type RemotePeers = { readonly peers: Peers; close(): Promise<void> };

export function peersOverHttp({
  settings,
  bearers,
  clock,
  log,
}: RemotePeersDependencies): RemotePeers {
  const agent = new Agent({
    connections: CONNECTIONS_PER_PEER,
    pipelining: 1,
    connect: { timeout: CONNECT_WAIT_MS },
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    headersTimeout: ANSWER_WAIT_MS,
    bodyTimeout: ANSWER_WAIT_MS,
    maxResponseSize: ANSWER_MAX_BYTES,
  });
  const identity = peer('identity', settings.IDENTITY_INTERNAL_URL, { agent, bearers, clock, log });
  const approval = peer('approval', settings.APPROVAL_INTERNAL_URL, { agent, bearers, clock, log });
  const authz = peer('authz', settings.AUTHZ_INTERNAL_URL, { agent, bearers, clock, log });
  return {
    peers: {
      identity: {
        jwks: identity(identityCalls.jwks),
        introspect: identity(identityCalls.introspect),
        ended: identity(identityCalls.ended),
        origins: identity(identityCalls.origins),
        pageToken: identity(identityCalls.pageToken),
        proofs: identity(identityCalls.proofs),
        stepUp: identity(identityCalls.stepUp),
        facts: identity(identityCalls.facts),
        people: identity(identityCalls.people),
      },
      approval: {
        open: approval(approvalCalls.open),
        get: approval(approvalCalls.get),
        consume: approval(approvalCalls.consume),
      },
      authz: {
        holders: authz(authzCalls.holders),
        check: authz(authzCalls.check),
      },
    },
    close: () => agent.destroy(),
  };
}

type PeerDependencies = Pick<RemotePeersDependencies, 'bearers' | 'clock' | 'log'> & {
  readonly agent: Agent;
};

function peer(
  name: keyof Peers,
  baseUrl: string,
  { agent, bearers, clock, log }: PeerDependencies,
) {
  const { origin, pathname } = new URL(baseUrl);
  const base = pathname === '/' ? '' : pathname;
  const told = peerChanges(name, { clock, log });

  const once = async ({ method, path, body, headers }: Message, bearer: string) => {
    const { statusCode, body: stream } = await agent.request({
      origin,
      path: `${base}${path}`,
      method,
      headers: { ...headers, authorization: `Bearer ${bearer}` },
      body,
      signal: AbortSignal.timeout(ANSWER_WAIT_MS),
    });
    if (statusCode === 200) return { status: statusCode, answer: await stream.json() };
    await stream.dump();
    return { status: statusCode, answer: undefined };
  };
  /** A service that was not restarted yet knows only the previous secret. */
  const withBearers = async (message: Message) => {
    let last = { status: 0, answer: undefined as unknown };
    for (const bearer of bearers.to(name)) {
      last = await once(message, bearer);
      if (last.status !== 401) break;
    }
    return last;
  };
  const send = async (message: Message): Promise<unknown> => {
    let cause: unknown;
    for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
      try {
        const { status, answer } = await withBearers(message);
        told('answers');
        if (status === 200) return answer;
        throw new PeerUnavailable(`${name} answered ${status}`);
      } catch (error) {
        if (error instanceof PeerUnavailable) throw error;
        cause = error;
        // A service that was silent for this long is not called again.
        if ((error as Error).name === 'TimeoutError') break;
      }
    }
    told('silent', cause);
    throw new PeerUnavailable(`${name} does not answer`, { cause });
  };

  return <Ok extends InternalCall['ok']>(call: InternalCall & { readonly ok: Ok }) => {
    const check = answerValidator<Ok>(call.ok);
    return async (request: object = {}) => {
      const checked = check(await send(messageOf(call, { ...request })));
      if ('value' in checked) return checked.value;
      const { faults } = checked;
      log.error({ peer: name, call: call.name, faults }, 'another service broke its contract');
      throw new UnexpectedAnswer(`${name} answered ${call.name} with what is no answer to it`);
    };
  };
}

type Message = {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body: string | null;
  readonly headers: { readonly [name: string]: string };
};

/** Puts the fields of a request where the contract has them. The tenant is added to the header too. */
function messageOf(
  { method, path, params, query, body, tenantField }: InternalCall,
  request: { readonly [field: string]: unknown },
): Message {
  const fieldsOf = (schema: InternalCall['body']): readonly (readonly [string, unknown])[] =>
    Object.entries(request).filter(([field]) => schema !== undefined && field in schema.properties);
  const search = new URLSearchParams();
  for (const [field, value] of fieldsOf(query)) search.set(field, String(value));
  let filled: string = path;
  for (const [field, value] of fieldsOf(params)) {
    filled = filled.replace(`{${field}}`, encodeURIComponent(String(value)));
  }
  const tenant = tenantField === undefined ? undefined : request[tenantField];
  return {
    method: method === 'get' ? 'GET' : 'POST',
    path: search.size === 0 ? filled : `${filled}?${search}`,
    body: body === undefined ? null : JSON.stringify(Object.fromEntries(fieldsOf(body))),
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(typeof tenant === 'string' ? { 'x-service-tenant': tenant } : {}),
    },
  };
}
