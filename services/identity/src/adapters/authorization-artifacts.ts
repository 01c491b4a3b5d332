/** Where the authorization server's library finds and leaves its models: in the cache, or computed from streams. */
import { CacheUnavailable } from '@cardea/runtime';
import { errors, Provider } from 'oidc-provider';
import type { Ports } from './authorization-ports.ts';

/** How long it is remembered that a code was used: longer than any session could be started with it. */
const USED_SECONDS = 3_600;
const GRANT_SECONDS = 12 * 3_600;

class Unavailable extends errors.OIDCProviderError {
  constructor() {
    super(503, 'temporarily_unavailable');
    this.error_description = 'a part that this needs is away at the moment';
    this.expose = true;
    // Not sent on to a redirect URI: nothing of the request could be looked at.
    this.allow_redirect = false;
  }
}

class TooManyRequests extends errors.OIDCProviderError {
  constructor() {
    super(429, 'temporarily_unavailable');
    this.error_description = 'too many requests of this client';
    this.expose = true;
    this.allow_redirect = false;
  }
}

/** A cache that is away is no fault of the request. */
async function stored<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof CacheUnavailable ? new Unavailable() : error;
  }
}

export function adapterOf(ports: Ports, name: string) {
  const { artifacts } = ports;
  const never = async (): Promise<never> => {
    throw new Error(`${name} is not the library's to change`);
  };
  const common = {
    upsert: never,
    find: async (): Promise<object | undefined> => undefined,
    findByUserCode: async () => undefined,
    findByUid: async (): Promise<object | undefined> => undefined,
    consume: never as (id: string) => Promise<void>,
    destroy: async (_id: string): Promise<void> => {},
    revokeByGrantId: async () => {},
  };
  switch (name) {
    case 'Client':
      return { ...common, find: (id: string) => clientPayload(ports, id) };
    case 'Grant':
      return { ...common, find: (id: string) => grantPayload(ports, id) };
    case 'RefreshToken':
      return {
        ...common,
        find: (id: string) => refreshPayload(ports, id),
        destroy: async (id: string) => {
          const { ctx } = Provider;
          if (ctx !== undefined) await ports.endSession(ctx.req, id);
        },
      };
    default:
      return {
        ...common,
        upsert: async (id: string, payload: { uid?: string }, ttl: number) => {
          if (name === 'ReplayDetection' && !(await stored(artifacts.use(name, id, ttl)))) {
            // The library has looked for it before; of two at once only one gets past here.
            throw new errors.InvalidClientAuth('client assertion tokens must only be used once');
          }
          await stored(artifacts.put(name, id, payload, ttl));
          if (name === 'Session' && payload.uid !== undefined) {
            await stored(artifacts.put('SessionUid', payload.uid, { id }, ttl));
          }
        },
        find: (id: string) => artifact(ports, name, id),
        findByUid: async (uid: string) => {
          const found = await stored(artifacts.find('SessionUid', uid));
          return found === undefined ? undefined : artifact(ports, name, String(found.value['id']));
        },
        consume: async (id: string) => {
          if (await stored(artifacts.use(name, id, USED_SECONDS))) return;
          // Of two at once only one gets past here.
          throw name === 'AuthorizationCode'
            ? new errors.InvalidGrant('authorization code already consumed')
            : new errors.InvalidRequestUri('request_uri was already used');
        },
        destroy: (id: string) => stored(artifacts.remove(name, id)),
      };
  }
}

async function artifact(ports: Ports, name: string, id: string): Promise<object | undefined> {
  const found = await stored(ports.artifacts.find(name, id));
  if (found === undefined || !found.used) return found?.value;
  const { ctx } = Provider;
  // Whoever else got hold of a used code ends nothing with it.
  const isOwn = ctx?.oidc?.client?.clientId === found.value['clientId'];
  if (name === 'AuthorizationCode' && ctx !== undefined && isOwn) {
    await ports.codeReplayed(ctx.req, id);
  }
  return { ...found.value, consumed: 1 };
}

const LIMITED: { readonly [path: string]: 'token' | 'par' } = {
  '/oauth2/token': 'token',
  '/oauth2/par': 'par',
};

async function clientPayload(ports: Ports, id: string): Promise<object | undefined> {
  const found = await ports.client(id);
  const to = LIMITED[Provider.ctx?.path ?? ''];
  if (found !== undefined && to !== undefined && !(await ports.admits(id, to))) {
    throw new TooManyRequests();
  }
  return found;
}

async function grantPayload({ grantById }: Ports, id: string) {
  const found = await grantById(id);
  if (found === undefined) return undefined;
  const { accountId, clientId, granted } = found;
  const { '': openid = [], ...resources } = granted;
  return {
    ...{ jti: id, kind: 'Grant', accountId, clientId, iat: 0 },
    exp: Math.floor(Date.now() / 1000) + GRANT_SECONDS,
    openid: { scope: openid.join(' ') },
    resources: Object.fromEntries(
      Object.entries(resources).map(([resource, scopes]) => [resource, scopes.join(' ')]),
    ),
  };
}

async function refreshPayload(ports: Ports, id: string) {
  const found = await ports.refreshToken(id);
  if (found === undefined) return undefined;
  const { clientId, userId: accountId } = found;
  return {
    ...{ jti: id, kind: 'RefreshToken', clientId, accountId, iat: 0 },
    exp: Math.floor(Date.now() / 1000) + GRANT_SECONDS,
  };
}
