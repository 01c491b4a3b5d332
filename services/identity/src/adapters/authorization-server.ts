/**
 * Wraps `oidc-provider` in a small type. The library implements OAuth 2 and OpenID Connect; everything lasting is read
 * and written through ports. Its artifacts are in the cache. Clients, consents and sessions are streams.
 */
import type { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { sameBytes, sha256 } from '@cardea/crypto';
import { errors, Provider } from 'oidc-provider';
import { keepRegisteredQuery, protectFormPost } from './answer-headers.ts';
import { boundProven } from './artifact-bounds.ts';
import { configurationOf, grantedOpenid } from './authorization-config.ts';
import {
  type ClientFailure,
  type Ctx,
  type ExchangedCode,
  type OAuthRefusal,
  type Ports,
  type TokenAnswer,
  tenantFor,
  tenantOf,
} from './authorization-ports.ts';
import { readClientIds } from './client-ids.ts';
import { printed, readUserCodes, sayInterval } from './device-flow.ts';
import { keepInteraction } from './kept-interactions.ts';
import { provenKey, readProof, useProof } from './possession.ts';
import { AGENT_ENDED, isSecretRight, registerTokenExchange } from './token-exchange.ts';

/** The library's events about failed client authentication. */
const CLIENT_ERRORS = [
  'grant.error',
  'revocation.error',
  'pushed_authorization_request.error',
  'device_authorization.error',
] as const;
/** The library's events about refused requests. */
const REFUSALS = [
  'authorization.error',
  'code_verification.error',
  'device_authorization.error',
  'device_resume.error',
  'grant.error',
  'introspection.error',
  'pushed_authorization_request.error',
  'revocation.error',
  'userinfo.error',
] as const;
const WRONG_METHOD = 'the provided authentication mechanism does not match';

/** The signed-in account of a browser. */
export type BrowserSession = { readonly uid: string; readonly accountId: string };

/** The signed-in account and the session of its sign-in. */
export type SignedIn = { readonly accountId: string; readonly browserSid: string };

/** A code that was returned to the page which started the sign-in. */
export type PageCode = {
  readonly code: string;
  readonly clientId: string;
  readonly verifier: string;
};
/** An account that has signed in at the hosted pages, and the time. */
export type PageSignIn = {
  readonly userId: string;
  readonly browserSid: string;
  /** Unix seconds. */
  readonly authTime: number;
  readonly amr: readonly string[];
};

export type AuthorizationServer = {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /**
   * Returns the interaction that a cookie names, and the account signed in now. Undefined if there is none any more.
   */
  readonly interaction: (cookie: string | undefined) => Promise<
    | {
        readonly stored: object;
        readonly browser: BrowserSession | undefined;
        /** The user code of the device, for an interaction about a device. */
        readonly userCode: string | undefined;
      }
    | undefined
  >;
  /** Finds an interaction by its id alone. Callers may show it, because it has no user. */
  readonly openInteraction: (uid: string) => Promise<object | undefined>;
  /** The interaction id in the cookie of this path, even if that interaction has ended. */
  readonly interactionId: (cookie: string | undefined) => string | undefined;
  /** Keeps an interaction for this number of seconds. Returns the `Set-Cookie` values for the browser. */
  readonly keep: (stored: object, seconds: number) => Promise<readonly string[]>;
  readonly signedIn: (cookie: string | undefined) => Promise<SignedIn | undefined>;
  /** Redeems a code of Cardea's own pages. Returns undefined if the code is invalid, used or expired. */
  readonly redeem: (of: PageCode) => Promise<PageSignIn | undefined>;
  /** Signs the browser out at the hosted pages. Returns the `Set-Cookie` values for the browser. */
  readonly forget: (cookie: string | undefined) => Promise<readonly string[]>;
};

export function authorizationServer(ports: Ports): AuthorizationServer {
  const provider = new Provider(ports.issuer, configurationOf(ports));
  provider.proxy = true;
  provider.silent = true;
  provider.onerror = ports.failed;
  provider.on('server_error', (_ctx: unknown, error: unknown) => ports.failed(error));
  // biome-ignore lint/suspicious/noExplicitAny: the library's types leave the prototype out.
  (provider.Client.prototype as any).compareClientSecret = async function compare(shown: string) {
    const client = this as { clientId: string };
    const isRight = await isSecretRight(ports, client, shown);
    if (isRight) await boundProven(ports, client.clientId);
    return isRight;
  };
  readUserCodes(provider, ports);
  readClientIds(provider);
  // The library's types omit these events.
  const events: EventEmitter = provider;
  const failures = new WeakMap<IncomingMessage, string>();
  for (const event of CLIENT_ERRORS) {
    events.on(event, (ctx: Ctx, error: { error_detail?: string }) => {
      failures.set(ctx.req, error.error_detail ?? '');
    });
  }
  for (const event of REFUSALS) {
    events.on(event, (ctx: Ctx, error: OAuthRefusal) => ports.refused(ctx.req, error));
  }
  provider.registerGrantType(
    'refresh_token',
    async (ctx) => refreshed(ports, ctx),
    ['refresh_token', 'scope', 'resource'],
    [],
  );
  registerTokenExchange(provider, ports);
  provider.use(async (ctx, next) => {
    if (await readProof(ports, ctx as Ctx)) await next();
    else ports.answered(ctx.req, undefined);
  });
  provider.use(async (ctx, next) => {
    await replaceSession(provider, ports, ctx as Ctx);
    await next();
    // The library must not decide which origins may read a response.
    ctx.remove('Access-Control-Allow-Origin');
    protectFormPost(ctx as Ctx);
    keepRegisteredQuery(ctx as Ctx);
    sayInterval(ctx as Ctx);
    const { oidc } = ctx as Ctx;
    const tenantId = oidc?.client === undefined ? undefined : await tenantFor(ports, ctx as Ctx);
    ports.answered(ctx.req, tenantId);
    const failure = failureOf(ctx as Ctx, failures.get(ctx.req));
    if (failure !== undefined) await ports.clientFailed(ctx.req, failure);
    const isToken = ctx.path === '/oauth2/token' && ctx.status === 200;
    const { AuthorizationCode, DeviceCode } = oidc?.entities ?? {};
    if (!isToken || (AuthorizationCode ?? DeviceCode) === undefined) return;
    try {
      const answer = ctx.body as TokenAnswer;
      ctx.body = await ports.afterCode(ctx.req, answer, exchangedCode(ctx as Ctx));
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
      // The library builds URLs from these headers, which any client can forge.
      request.headers.host = host;
      request.headers['x-forwarded-host'] = host;
      request.headers['x-forwarded-proto'] = protocol.slice(0, -1);
      // The library would refuse calls from an origin without a matching redirect URI.
      delete request.headers.origin;
      await callback(request, response);
    },
    ...browserCalls(provider, protocol === 'https:'),
  };
}

/** Functions outside the library's own routes. They identify a browser by its cookies alone. */
function browserCalls(provider: Provider, isHttps: boolean): Omit<AuthorizationServer, 'handle'> {
  return {
    interaction: (cookie) => interactionOf(provider, cookie),
    openInteraction: (uid) => provider.Interaction.find(uid),
    interactionId: (cookie) => cookieOf(provider, contextOf(provider, cookie), 'interaction'),
    keep: (stored, seconds) => keepInteraction(provider, stored, seconds),
    signedIn: async (cookie) => {
      const { accountId, acr } = (await sessionOf(provider, contextOf(provider, cookie))) ?? {};
      return accountId === undefined || acr === undefined
        ? undefined
        : { accountId, browserSid: acr };
    },
    redeem: (of) => redeemed(provider, of),
    forget: async (cookie) => {
      await (await sessionOf(provider, contextOf(provider, cookie)))?.destroy();
      const name = provider.cookieName('session');
      const attributes = `path=/; expires=${new Date(0).toUTCString()}; samesite=lax; httponly`;
      const secure = isHttps ? '; secure' : '';
      return [name, `${name}.sig`].map((each) => `${each}=; ${attributes}${secure}`);
    },
  };
}

async function interactionOf(
  provider: Provider,
  cookie: string | undefined,
): ReturnType<AuthorizationServer['interaction']> {
  // The library's own lookup fails after another tab has signed in again.
  const ctx = contextOf(provider, cookie);
  const uid = cookieOf(provider, ctx, 'interaction');
  const stored = uid === undefined ? undefined : await provider.Interaction.find(uid);
  if (stored === undefined) return undefined;
  const { uid: session, accountId } = (await sessionOf(provider, ctx)) ?? {};
  const isSignedIn = session !== undefined && accountId !== undefined;
  const browser = isSignedIn ? { uid: session, accountId } : undefined;
  return { stored, browser, userCode: await userCodeOf(provider, stored) };
}

/**
 * Redeems a code with the token endpoint's checks. The client is the one of Cardea's own pages, and only this process
 * can act as it.
 */
async function redeemed(
  provider: Provider,
  { code, clientId, verifier }: PageCode,
): Promise<PageSignIn | undefined> {
  const found = (await provider.AuthorizationCode.find(code)) as RedeemedCode | undefined;
  if (found === undefined || found.consumed !== undefined || found.clientId !== clientId) {
    return undefined;
  }
  const challenge = sha256(verifier).toString('base64url');
  if (!sameBytes(challenge, found.codeChallenge ?? '')) return undefined;
  try {
    await found.consume();
  } catch (error) {
    // The later of two concurrent requests is refused.
    if (error instanceof errors.InvalidGrant) return undefined;
    throw error;
  }
  const { accountId: userId, acr: browserSid = '', authTime = 0, amr = [] } = found;
  return userId === undefined ? undefined : { userId, browserSid, authTime, amr };
}

type RedeemedCode = {
  readonly accountId?: string;
  readonly acr?: string;
  readonly amr?: readonly string[];
  readonly authTime?: number;
  readonly clientId?: string;
  readonly codeChallenge?: string;
  readonly consumed?: unknown;
  readonly consume: () => Promise<void>;
};

function exchangedCode(ctx: Ctx): ExchangedCode {
  const { oidc } = ctx;
  const { AuthorizationCode, DeviceCode } = oidc.entities;
  const code = AuthorizationCode ?? DeviceCode;
  return {
    code: String(oidc.params?.['code'] ?? oidc.params?.['device_code'] ?? ''),
    nonce: code?.nonce,
    openid: grantedOpenid(ctx),
  };
}

/** The user code in the form that the device shows. Undefined if the interaction is not about a device. */
async function userCodeOf(provider: Provider, stored: object): Promise<string | undefined> {
  const { deviceCode } = stored as { readonly deviceCode?: string };
  if (deviceCode === undefined) return undefined;
  const found = await provider.DeviceCode.find(deviceCode, { ignoreExpiration: true });
  return printed((found as { readonly userCode?: string } | undefined)?.userCode ?? '');
}

type WithCookies = Pick<Ctx, 'cookies'>;

/** A context from which the library reads only cookies. */
function contextOf(provider: Provider, cookie: string | undefined): WithCookies {
  const message = { headers: { cookie: cookie ?? '' }, socket: {} } as unknown;
  return provider.createContext(message as IncomingMessage, {} as ServerResponse);
}

const cookieOf = (provider: Provider, { cookies }: WithCookies, name: string): string | undefined =>
  cookies.get(provider.cookieName(name), { signed: true });

async function sessionOf(provider: Provider, ctx: WithCookies) {
  const id = cookieOf(provider, ctx, 'session');
  return id === undefined ? undefined : provider.Session.find(id);
}

/**
 * The last sign-in in a browser determines its account. If another tab has signed in another account, the library alone
 * would send the browser to its logout page or refuse the request.
 */
async function replaceSession(provider: Provider, ports: Ports, ctx: Ctx): Promise<void> {
  if (!RESUMED.test(ctx.path)) return;
  const uid = cookieOf(provider, ctx, 'resume');
  const interaction = uid === undefined ? undefined : await provider.Interaction.find(uid);
  const { login, consent } = interaction?.result ?? {};
  // After a consent the session is not replaced. A consent belongs to the person who was signed in, and the library
  // compares the accounts.
  if (interaction === undefined || login === undefined || consent !== undefined) return;
  const session = await sessionOf(provider, ctx);
  const { accountId, acr: sid } = login as { readonly accountId: string; readonly acr?: string };
  if (session?.accountId !== undefined) {
    const { acr: earlier } = session;
    // This runs before the new sign-in replaces the session. After a failure here no session is left without a browser.
    if (session.accountId !== accountId) {
      if (earlier !== undefined) await ports.browserReplaced(ctx.req, earlier);
      await session.destroy();
    } else if (earlier !== undefined && sid !== undefined && sid !== earlier) {
      await ports.browserContinued(ctx.req, { sid, earlier });
    }
  }
  if (interaction.session === undefined) return;
  delete interaction.session;
  await interaction.persist();
}

const RESUMED = /^\/oauth2\/(authorize|device)\/[^/]+$/;

/** The failure of a known client that could not authenticate. */
function failureOf(
  { oidc, status, body }: Ctx,
  detail: string | undefined,
): ClientFailure | undefined {
  const isClient = status === 401 && (body as { error?: string }).error === 'invalid_client';
  if (detail === undefined || detail === AGENT_ENDED) return undefined;
  if (!isClient || oidc.client === undefined) return undefined;
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
    thumbprint: provenKey(ctx.req),
    useProof: () => useProof(ctx.req),
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
