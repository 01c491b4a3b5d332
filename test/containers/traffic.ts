/** Sends requests while containers come and go, and records which of them were lost. */
import { setTimeout as pause } from 'node:timers/promises';
import { restDriver } from '@cardea/testing';

export type Account = {
  readonly email: string;
  readonly tenant: string;
  readonly bearer: string;
};

export type Traffic = {
  /** Stops, and returns how many requests were answered and what happened to the others. */
  stop(): Promise<{ readonly answered: number; readonly lost: readonly string[] }>;
};

export const PASSWORD = 'correct horse battery staple';
/** The expected statuses. Any other status, such as that of an expired token, says nothing about lost requests. */
const ANSWERS = [200, 201, 204, 404];
/**
 * The pause between two requests of a kind. It is short enough to hit each moment of a stop, even on a busy machine.
 */
const PAUSE_MS = 50;
const ANSWER_MS_MAX = 20_000;

export async function signUp(baseUrl: string, email: string): Promise<Account> {
  const body = { email, password: PASSWORD, company_name: email, display_name: 'Ada' };
  const made = await restDriver({ baseUrl }).post('/api/v1/auth/signup', body);
  if (made.status !== 201) throw new Error(`sign-up: ${made.status} ${made.text}`);
  return { email, tenant: made.body.tenant_id, bearer: made.body.access_token };
}

/** Gets a new token, because changes of the vault require a sign-in within the last ten minutes. */
export async function signInAgain(baseUrl: string, account: Account): Promise<Account> {
  const body = { email: account.email, password: PASSWORD };
  const caller = { tenant: account.tenant };
  const answer = await restDriver({ baseUrl, caller }).post('/api/v1/auth/login', body);
  if (answer.status !== 200) throw new Error(`sign-in: ${answer.status} ${answer.text}`);
  return { ...account, bearer: answer.body.access_token };
}

/**
 * Sends requests of all `kinds` concurrently. The next request of a kind follows shortly after the response to the last
 * one.
 */
export function traffic(kinds: { readonly [kind: string]: () => Promise<number> }): Traffic {
  let isOn = true;
  let answered = 0;
  const lost: string[] = [];
  const began = performance.now();
  const all = Object.entries(kinds).map(async ([kind, ask]) => {
    while (isOn) {
      await pause(PAUSE_MS);
      const sent = performance.now();
      const status = await ask().catch((error: unknown) => String(error));
      if (typeof status === 'number' && ANSWERS.includes(status)) answered += 1;
      else {
        const at = `${((sent - began) / 1000).toFixed(1)} s`;
        const tookMs = Math.round(performance.now() - sent);
        lost.push(`${kind} at ${at}: ${status} in ${tookMs} ms`);
      }
    }
  });
  return {
    async stop() {
      isOn = false;
      await Promise.all(all);
      return { answered, lost };
    },
  };
}

/** Requests that may be sent twice: a GET of each service, a PUT and a DELETE. */
export function repeatable(
  url: string,
  account: () => Account,
): { readonly [kind: string]: () => Promise<number> } {
  const ask = (method: string, path: string, body?: object) => async (): Promise<number> => {
    const response = await fetch(new URL(path, url), {
      method,
      headers: {
        authorization: `Bearer ${account().bearer}`,
        'x-service-tenant': account().tenant,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    await response.arrayBuffer();
    return response.status;
  };
  const secret = '/api/v1/vault/services/warehouse/secrets';
  return {
    'GET identity': ask('GET', '/api/v1/auth/me'),
    'GET authz': ask('GET', '/api/v1/fga/model'),
    'GET vault': ask('GET', '/api/v1/vault/services/warehouse'),
    'GET approval': ask('GET', '/api/v1/ciba/pending'),
    'GET webhooks': ask('GET', '/api/v1/webhooks'),
    'GET audit': ask('GET', '/api/v1/audit/events'),
    'PUT vault': ask('PUT', secret, { fields: { username: 'u', password: 'p' } }),
    'DELETE webhooks': ask('DELETE', '/api/v1/webhooks/00000000-0000-4000-8000-000000000000'),
  };
}

/** Registers a service in the vault, for {@link repeatable}. */
export async function registerService(baseUrl: string, account: Account, name = 'warehouse') {
  const body = {
    name,
    credential_type: 'static',
    fields: ['username', 'password'].map((field) => ({ name: field })),
  };
  const caller = { bearer: account.bearer, tenant: account.tenant };
  return restDriver({ baseUrl, caller }).post('/api/v1/vault/services', body);
}
