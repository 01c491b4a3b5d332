/**
 * Services that run elsewhere, asked at their internal listeners. Every call can be repeated without
 * harm, so one that broke off is sent once more; what then has no answer is {@link PeerUnavailable}.
 */
import type { CurrentFacts, IntrospectedKey, JwkSet } from '@cardea/auth';
import type { Logger, Settings } from '@cardea/runtime';
import { Agent } from 'undici';
import type { InternalBearers } from './internal-bearer.ts';
import { PeerUnavailable } from './peer-unavailable.ts';
import type { Peers } from './service.ts';

const CONNECT_WAIT_MS = 2_000;
const ANSWER_WAIT_MS = 10_000;
const ATTEMPTS_MAX = 2;
const CONNECTIONS_PER_PEER = 32;
/** Below the 75 s of the other side. */
const KEEP_ALIVE_MS = 60_000;
const ANSWER_MAX_BYTES = 1024 * 1024;

export type RemotePeersNeeds = {
  readonly settings: Pick<Settings, 'IDENTITY_INTERNAL_URL' | 'APPROVAL_INTERNAL_URL'>;
  readonly bearers: InternalBearers;
  readonly log: Logger;
};

export type RemotePeers = { readonly peers: Peers; close(): Promise<void> };

type Question = {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
  /** The tenant that is acted for. */
  readonly tenant?: unknown;
};
type Outcome = { readonly outcome: string } & { readonly [key: string]: unknown };

export function peersOverHttp({ settings, bearers, log }: RemotePeersNeeds): RemotePeers {
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
  const identity = peer('identity', settings.IDENTITY_INTERNAL_URL, { agent, bearers, log });
  const approval = peer('approval', settings.APPROVAL_INTERNAL_URL, { agent, bearers, log });
  return {
    peers: {
      jwks: () => identity<JwkSet>({ method: 'GET', path: '/internal/v1/jwks' }),
      introspect: async (credential) => {
        const body = { token: credential };
        const { key } = await identity<{ key: IntrospectedKey | null }>({
          method: 'POST',
          path: '/internal/v1/introspect',
          body,
        });
        return key ?? undefined;
      },
      ended: async (marks) => {
        const { ended } = await identity<{ ended: readonly boolean[] }>({
          method: 'POST',
          path: '/internal/v1/ended',
          body: { marks },
        });
        return ended;
      },
      facts: (asked) =>
        identity<CurrentFacts>({
          method: 'POST',
          path: '/internal/v1/facts',
          body: asked,
          tenant: asked.tenantId,
        }),
      approval: {
        open: (body) =>
          approval<Outcome>({
            method: 'POST',
            path: '/internal/v1/approval/open',
            body,
            tenant: tenantIn(body),
          }),
        get: (tenant, id) =>
          approval<Outcome>({
            method: 'GET',
            path: `${requestPath(id)}?tenant_id=${encodeURIComponent(tenant)}`,
            tenant,
          }),
        consume: (id, body) =>
          approval<Outcome>({
            method: 'POST',
            path: `${requestPath(id)}/consume`,
            body,
            tenant: tenantIn(body),
          }),
      },
    },
    close: () => agent.destroy(),
  };
}

const requestPath = (id: string): string =>
  `/internal/v1/approval/requests/${encodeURIComponent(id)}`;
const tenantIn = (body: object): unknown => (body as { tenant_id?: unknown }).tenant_id;

type PeerNeeds = Pick<RemotePeersNeeds, 'bearers' | 'log'> & { readonly agent: Agent };

function peer(name: string, baseUrl: string, { agent, bearers, log }: PeerNeeds) {
  const { origin, pathname } = new URL(baseUrl);
  const base = pathname === '/' ? '' : pathname;
  let away = false;
  const told = (isAway: boolean, cause?: unknown): void => {
    if (isAway !== away) {
      if (isAway) log.warn({ peer: name, err: cause }, 'another service does not answer');
      else log.info({ peer: name }, 'another service answers again');
    }
    away = isAway;
  };

  const once = async ({ method, path, body, tenant }: Question, bearer: string) => {
    const { statusCode, body: stream } = await agent.request({
      origin,
      path: `${base}${path}`,
      method,
      headers: {
        authorization: `Bearer ${bearer}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(typeof tenant === 'string' ? { 'x-service-tenant': tenant } : {}),
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(ANSWER_WAIT_MS),
    });
    if (statusCode === 200) return { status: statusCode, answer: await stream.json() };
    await stream.dump();
    return { status: statusCode, answer: undefined };
  };
  /** A peer that was not restarted yet knows the previous secret alone. */
  const withBearers = async (question: Question) => {
    let last = { status: 0, answer: undefined as unknown };
    for (const bearer of bearers.own) {
      last = await once(question, bearer);
      if (last.status !== 401) break;
    }
    return last;
  };

  return async <T>(question: Question): Promise<T> => {
    let cause: unknown;
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
      try {
        const { status, answer } = await withBearers(question);
        told(false);
        if (status === 200) return answer as T;
        throw new PeerUnavailable(`${name} answered ${status}`);
      } catch (error) {
        if (error instanceof PeerUnavailable) throw error;
        cause = error;
        // Whoever was silent for so long is not asked again.
        if ((error as Error).name === 'TimeoutError') break;
      }
    }
    told(true, cause);
    throw new PeerUnavailable(`${name} does not answer`, { cause });
  };
}
