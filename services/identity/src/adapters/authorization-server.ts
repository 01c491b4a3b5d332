/**
 * `oidc-provider` behind a small type: it speaks OAuth 2 and OpenID Connect, and everything that lasts is asked
 * of ports. Its artifacts live in the cache; clients, consents and sessions are streams.
 */
import type { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { errors, Provider } from 'oidc-provider';
import { configurationOf } from './authorization-config.ts';
import {
  type ClientFailure,
  type Ctx,
  type Ports,
  tenantFor,
  tenantOf,
} from './authorization-ports.ts';

/** What the library tells of where clients authenticate. */
const CLIENT_ERRORS = [
  'grant.error',
  'revocation.error',
  'pushed_authorization_request.error',
] as const;
const WRONG_METHOD = 'the provided authentication mechanism does not match';

export type AuthorizationServer = {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /** What a cookie names; undefined where it names nothing any more. */
  readonly interaction: (cookie: string | undefined) => Promise<object | undefined>;
  readonly endBrowserSession: (uid: string) => Promise<void>;
};

export function authorizationServer(ports: Ports): AuthorizationServer {
  const provider = new Provider(ports.issuer, configurationOf(ports));
  provider.proxy = true;
  provider.silent = true;
  provider.onerror = ports.failed;
  provider.on('server_error', (_ctx: unknown, error: unknown) => ports.failed(error));
  // biome-ignore lint/suspicious/noExplicitAny: the library's types leave the prototype out.
  (provider.Client.prototype as any).compareClientSecret = function compare(shown: string) {
    return ports.hasSecret((this as { clientId: string }).clientId, shown);
  };
  // The library's types leave these events out.
  const events: EventEmitter = provider;
  const failures = new WeakMap<IncomingMessage, string>();
  for (const event of CLIENT_ERRORS) {
    events.on(event, (ctx: Ctx, error: { error_detail?: string }) => {
      failures.set(ctx.req, error.error_detail ?? '');
    });
  }
  provider.registerGrantType(
    'refresh_token',
    async (ctx) => refreshed(ports, ctx),
    ['refresh_token', 'scope', 'resource'],
    [],
  );
  provider.use(async (ctx, next) => {
    await next();
    // Which origins may read an answer is not for the library to say.
    ctx.remove('Access-Control-Allow-Origin');
    const { oidc } = ctx as Ctx;
    const tenantId = oidc?.client === undefined ? undefined : await tenantFor(ports, ctx as Ctx);
    ports.answered(ctx.req, tenantId);
    const failure = failureOf(ctx as Ctx, failures.get(ctx.req));
    if (failure !== undefined) await ports.clientFailed(ctx.req, failure);
    const isToken = ctx.path === '/oauth2/token' && ctx.status === 200;
    if (!isToken || oidc?.entities.AuthorizationCode === undefined) return;
    try {
      const code = String(oidc.params?.['code'] ?? '');
      ctx.body = await ports.afterCode(ctx.req, ctx.body as object, code);
    } catch (error) {
      ports.failed(error);
      ctx.status = 503;
      ctx.body = { error: 'temporarily_unavailable' };
    }
  });
  const callback = provider.callback();
  const { host, protocol } = new URL(ports.issuer);
  return {
    handle: async (request, response) => {
      // The library builds addresses from these headers, which anybody can send.
      request.headers.host = host;
      request.headers['x-forwarded-host'] = host;
      request.headers['x-forwarded-proto'] = protocol.slice(0, -1);
      // It would refuse calls by an origin that is no redirect URI's.
      delete request.headers.origin;
      await callback(request, response);
    },
    interaction: async (cookie) => {
      // The library reads nothing but cookies of it.
      const message = { headers: { cookie: cookie ?? '' }, socket: {} };
      try {
        const none = {} as ServerResponse;
        return await provider.interactionDetails(message as unknown as IncomingMessage, none);
      } catch (error) {
        if ((error as { name?: string }).name === 'SessionNotFound') return undefined;
        throw error;
      }
    },
    endBrowserSession: async (uid) => {
      await (await provider.Session.findByUid(uid))?.destroy();
    },
  };
}

/** Of a client that is known and could not prove that it calls. */
function failureOf(
  { oidc, status, body }: Ctx,
  detail: string | undefined,
): ClientFailure | undefined {
  const isClient = status === 401 && (body as { error?: string }).error === 'invalid_client';
  if (detail === undefined || !isClient || oidc.client === undefined) return undefined;
  const { clientId, clientAuthMethod } = oidc.client;
  const own = clientAuthMethod === 'private_key_jwt' ? 'wrong_assertion' : 'wrong_secret';
  const reason = detail.startsWith(WRONG_METHOD) ? 'wrong_method' : own;
  return { tenantId: tenantOf(oidc.client), clientId, reason };
}

async function refreshed(ports: Ports, ctx: Ctx): Promise<void> {
  const { client, params = {} } = ctx.oidc;
  const { refresh_token: token, scope, resource } = params;
  if (typeof token !== 'string') throw new errors.InvalidRequest('missing required parameter');
  const answer = await ports.refresh(ctx.req, {
    tenantId: await tenantFor(ports, ctx),
    clientId: client?.clientId ?? '',
    token,
    scope: typeof scope === 'string' ? scope : undefined,
    resource: typeof resource === 'string' ? resource : undefined,
  });
  if (!('fault' in answer)) {
    ctx.body = answer;
    return;
  }
  switch (answer.fault) {
    case 'invalid_grant':
      throw new errors.InvalidGrant('refresh token is invalid');
    case 'invalid_scope':
      throw new errors.InvalidScope('scope was not granted', scope as string);
    case 'invalid_target':
      throw new errors.InvalidTarget('resource was not granted');
  }
}
