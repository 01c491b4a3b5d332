/**
 * `oidc-provider` behind a small type: it speaks OAuth 2 and OpenID Connect, and everything that lasts is asked
 * of ports. Its artifacts live in the cache; clients, consents and sessions are streams.
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

/** What the library tells of where clients authenticate. */
const CLIENT_ERRORS = [
  'grant.error',
  'revocation.error',
  'pushed_authorization_request.error',
  'device_authorization.error',
] as const;
/** What it tells of all requests that it refuses. */
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

/** Who is signed in in a browser. */
export type BrowserSession = { readonly uid: string; readonly accountId: string };

/** The same, with the session of that sign-in. */
export type SignedIn = { readonly accountId: string; readonly browserSid: string };

/** A code that came back to the page which began the sign-in. */
export type PageCode = {
  readonly code: string;
  readonly clientId: string;
  readonly verifier: string;
};
/** Who has signed in at the hosted pages, and when. */
export type PageSignIn = {
  readonly userId: string;
  readonly browserSid: string;
  /** Unix seconds. */
  readonly authTime: number;
  readonly amr: readonly string[];
};

export type AuthorizationServer = {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /** What a cookie names, and who is signed in by now; undefined where it names nothing any more. */
  readonly interaction: (cookie: string | undefined) => Promise<
    | {
        readonly stored: object;
        readonly browser: BrowserSession | undefined;
        /** The code of the device that it is about. */
        readonly userCode: string | undefined;
      }
    | undefined
  >;
  /** The same by its id alone: it may be shown what is about nobody. */
  readonly openInteraction: (uid: string) => Promise<object | undefined>;
  /** The id that a cookie of this path names, also where its interaction is over. */
  readonly interactionId: (cookie: string | undefined) => string | undefined;
  /** Keeps an interaction for so many seconds; what the browser has to be sent as `Set-Cookie`. */
  readonly keep: (stored: object, seconds: number) => Promise<readonly string[]>;
  readonly signedIn: (cookie: string | undefined) => Promise<SignedIn | undefined>;
  /** Uses up a code of Cardea's own pages; undefined if it is none that fits, or has ended. */
  readonly redeem: (of: PageCode) => Promise<PageSignIn | undefined>;
  /** Forgets who is signed in there; what the browser has to be sent as `Set-Cookie`. */
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
  // The library's types leave these events out.
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
    // Which origins may read an answer is not for the library to say.
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
      // The library builds addresses from these headers, which anybody can send.
      request.headers.host = host;
      request.headers['x-forwarded-host'] = host;
      request.headers['x-forwarded-proto'] = protocol.slice(0, -1);
      // It would refuse calls by an origin that is no redirect URI's.
      delete request.headers.origin;
      await callback(request, response);
    },
    ...browserCalls(provider, protocol === 'https:'),
  };
}

/** What is asked about a browser by its cookies alone, outside of the library's own routes. */
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
  // The library's own look-up ends where another tab has signed in anew.
  const ctx = contextOf(provider, cookie);
  const uid = cookieOf(provider, ctx, 'interaction');
  const stored = uid === undefined ? undefined : await provider.Interaction.find(uid);
  if (stored === undefined) return undefined;
  const { uid: session, accountId } = (await sessionOf(provider, ctx)) ?? {};
  const isSignedIn = session !== undefined && accountId !== undefined;
  const browser = isSignedIn ? { uid: session, accountId } : undefined;
  return { stored, browser, userCode: await userCodeOf(provider, stored) };
}

/** The checks of the token endpoint, for a client that only this process can be. */
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
    // One of two at once is too late.
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

/** As the device shows it; undefined where no device waits for the interaction. */
async function userCodeOf(provider: Provider, stored: object): Promise<string | undefined> {
  const { deviceCode } = stored as { readonly deviceCode?: string };
  if (deviceCode === undefined) return undefined;
  const found = await provider.DeviceCode.find(deviceCode, { ignoreExpiration: true });
  return printed((found as { readonly userCode?: string } | undefined)?.userCode ?? '');
}

type WithCookies = Pick<Ctx, 'cookies'>;

/** The context of a request of which the library reads nothing but cookies. */
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
 * Whoever signs in last in a browser is who is signed in there. The library would send a browser in which another tab
 * has signed in somebody else to its logout, or refuse it.
 */
async function replaceSession(provider: Provider, ports: Ports, ctx: Ctx): Promise<void> {
  if (!RESUMED.test(ctx.path)) return;
  const uid = cookieOf(provider, ctx, 'resume');
  const interaction = uid === undefined ? undefined : await provider.Interaction.find(uid);
  const { login, consent } = interaction?.result ?? {};
  // A consent belongs to the person who was signed in, and the library compares that.
  if (interaction === undefined || login === undefined || consent !== undefined) return;
  const session = await sessionOf(provider, ctx);
  const { accountId, acr: sid } = login as { readonly accountId: string; readonly acr?: string };
  if (session?.accountId !== undefined) {
    const { acr: earlier } = session;
    // Before the sign-in is taken over, so that a failure leaves nobody's session without a browser.
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

/** The failure of a client that is known and could not prove that it calls. */
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
