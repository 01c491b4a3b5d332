/**
 * Signs a browser out at the hosted pages when an application requests it (OpenID Connect RP-Initiated Logout 1.0).
 * This is our own implementation. The library's implementation asks the person each time, and refuses a request whose
 * hint cannot be verified.
 */
import type { ServerResponse } from 'node:http';
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import { asPage, send, wantsPage } from '@cardea/pages';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { exists, type UserDirectory } from '../../accounts/accounts.module.ts';
import type { SignedIn } from '../../adapters/authorization-server.ts';
import { tooOften } from '../../http/answers.ts';
import { LIMITS } from '../../http/limits.ts';
import { type Frame, frameOf } from '../../pages/frame.ts';
import type { FindOnward } from '../../pages/onward.ts';
import type { SigningKeys } from '../../signing-keys/signing-keys.module.ts';
import type { Workspaces } from '../../workspaces/workspaces.module.ts';
import { isDocumentId } from '../client-documents/client-document.ts';
import { formAsAddress } from '../form-as-address.ts';
import { FOREIGN, failed, isOwnPage, redirected } from '../interactions/posted.ts';
import type { ApplicationSessions } from '../server/application-sessions.ts';
import type { OAuthClients } from '../server/clients.ts';
import type { RunningServer } from '../server/running-server.ts';
import { readLogoutHint } from './logout-hint.ts';
import { logoutQuestionPage, refusedLogoutPage, signedOutPage } from './logout-pages.ts';
import { decideLogout, type LogoutRequest, withState } from './logout-request.ts';

type Dependencies = Pick<ServiceDependencies, 'limits' | 'settings'> & {
  readonly applicationSessions: Pick<
    ApplicationSessions,
    'browserOf' | 'endBrowser' | 'isBrowserAlive'
  >;
  readonly clients: Pick<OAuthClients, 'find'>;
  readonly keys: SigningKeys['keys'];
  readonly server: RunningServer;
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'emailOf'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  readonly onward: FindOnward;
};

const PATH = '/oauth2/session/end';
const CONFIRM = `${PATH}/confirm`;
const FORM_MAX_BYTES = 16 * 1024;
const REFUSED = { refused: 'invalid_request' } as const;

const RESPONSE = { errors: 'oauth', isSecret: true } as const;
const OPEN = {
  tag: 'OAuth',
  who: 'anyone',
  tenant: 'none',
  response: RESPONSE,
} as const;
const PAGE = {
  ok: Type.String(),
  response: {
    ...RESPONSE,
    others: { 303: Type.Object({}, { additionalProperties: false }) },
    mediaType: 'text/html',
  },
} as const;

const text = Type.Optional(Type.String());
const onwards = { client_id: text, post_logout_redirect_uri: text, state: text, ui_locales: text };
const Parameters = Type.Object(
  { id_token_hint: text, ...onwards, logout_hint: text },
  { additionalProperties: true },
);

type Asked = {
  readonly id_token_hint?: string;
  readonly client_id?: string;
  readonly post_logout_redirect_uri?: string;
  readonly state?: string;
  readonly ui_locales?: string;
};
type AnyRequest = Request<unknown, unknown, unknown>;

export const logoutRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...OPEN,
      ...PAGE,
      name: 'end_session',
      summary: 'Sign out at the hosted pages, as an application asks',
      description:
        'Signs a browser out at the hosted pages (OpenID Connect RP-Initiated Logout), and sends it to `post_logout_redirect_uri` if that is registered. Where the request does not prove whose sign-in is meant, the user is asked first.',
      method: 'get',
      repeat: 'get_only',
      path: PATH,
      query: Parameters,
      refusals: { invalid_request: 400, rate_limited: 429 },
    },
    async (request) => {
      const room = await needs.limits.take([LIMITS.authorizeByIp, request.ip]);
      if (!room.allowed) return tooOften(room);
      const { query: asked, headers } = request;
      const read = await readRequest(needs, request, asked);
      const outcome = decideLogout(read);
      const frame = await frameFor(needs, request, { asked, read });
      switch (outcome.status) {
        case 'refused':
          return wantsPage(headers)
            ? { raw: send(400, refusedLogoutPage(frame, REFUSED.refused)) }
            : REFUSED;
        case 'ask': {
          const { to } = outcome;
          const email = await emailOf(needs, read);
          const fields = to === undefined ? {} : fieldsOf(asked);
          const shown = logoutQuestionPage(frame, { action: CONFIRM, email, fields, to });
          return { raw: send(200, shown) };
        }
        case 'sign_out':
          return signOut(needs, request, { to: outcome.to, asked, read, frame });
      }
    },
  );

/**
 * A form of another site arrives without the sign-in's cookie, so the browser is redirected to the same request as a
 * URL.
 */
export const postLogoutRoute = (needs: Pick<Dependencies, 'limits'>): Endpoint =>
  endpoint(
    {
      ...OPEN,
      name: 'post_end_session',
      summary: 'Sign out at the hosted pages, by a form',
      description:
        'Signs a browser out by a form: the browser is sent on to the GET with the same parameters.',
      method: 'post',
      path: PATH,
      repeat: 'safe',
      input: { isOptional: true, takesForm: true, limitBytes: FORM_MAX_BYTES },
      body: Type.Object({ id_token_hint: text }, { additionalProperties: Type.String() }),
      ok: Type.String(),
      response: { ...RESPONSE, status: 303, mediaType: 'text/html' },
      refusals: { invalid_request: 400, rate_limited: 429 },
    },
    async ({ body, ip }) => {
      const room = await needs.limits.take([LIMITS.formsByIp, ip]);
      if (!room.allowed) return tooOften(room);
      const to = formAsAddress(PATH, body as { readonly [name: string]: string });
      return 'refused' in to ? to : redirected(to.address);
    },
  );

export const confirmLogoutRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...OPEN,
      ...PAGE,
      name: 'confirm_end_session',
      summary: 'Sign out at the hosted pages, as the page of the question sends it',
      description:
        'Takes the answer of the user who was asked whether to sign out. It is accepted from a page of the issuer alone.',
      method: 'post',
      path: CONFIRM,
      repeat: 'safe',
      input: { isOptional: true, takesForm: true, limitBytes: FORM_MAX_BYTES },
      body: Type.Object(onwards, { additionalProperties: false }),
      refusals: { invalid_request: 400, access_denied: 403, rate_limited: 429 },
    },
    async (request) => {
      const room = await needs.limits.take([LIMITS.formsByIp, request.ip]);
      if (!room.allowed) return tooOften(room);
      const { body: asked, headers } = request;
      if (!isOwnPage(headers, needs.settings.ISSUER)) return failed(request, FOREIGN);
      const read = await readRequest(needs, request, asked);
      const outcome = decideLogout(read);
      const frame = await frameFor(needs, request, { asked, read });
      if (outcome.status === 'refused') {
        return asPage(headers)
          ? { raw: send(400, refusedLogoutPage(frame, REFUSED.refused)) }
          : REFUSED;
      }
      return signOut(needs, request, { to: outcome.to, asked, read, frame });
    },
  );

type Read = LogoutRequest & {
  readonly clientTenantId: string | undefined;
  /** The session id from the cookie, even of a sign-in that has ended. */
  readonly browserSid: string | undefined;
};

async function readRequest(
  { applicationSessions, clients, keys, server, settings }: Dependencies,
  { headers }: AnyRequest,
  { id_token_hint, client_id: clientId, post_logout_redirect_uri: redirectUri }: Asked,
): Promise<Read> {
  const of = { keys: keys(), issuer: settings.ISSUER };
  const shown = await readLogoutHint(of, id_token_hint);
  const id = clientId ?? (shown.status === 'verified' ? shown.clientId : '');
  const found = await clients.find(id);
  // A self-described client has no registered post-logout redirect URIs.
  const registeredUris = isDocumentId(id) ? [] : found?.application.post_logout_redirect_uris;
  const isOfNone = shown.status === 'verified' && registeredUris === undefined;
  const signedIn = await server().signedIn(headers['cookie']);
  return {
    hint: isOfNone && clientId === undefined ? { status: 'unverified' } : shown,
    clientId,
    redirectUri,
    registeredUris,
    signedIn: signedIn && (await aliveBrowser(applicationSessions, signedIn)),
    clientTenantId: found?.tenantId,
    browserSid: signedIn?.browserSid,
  };
}

/** The signed-in person. Undefined if the sign-in has ended. */
async function aliveBrowser(
  { browserOf, isBrowserAlive }: Dependencies['applicationSessions'],
  { accountId, browserSid }: SignedIn,
): Promise<LogoutRequest['signedIn']> {
  const browser = await browserOf(browserSid);
  if (browser?.userId !== accountId) return undefined;
  return (await isBrowserAlive(browser.tenantId, accountId, browserSid)) ? browser : undefined;
}

/** The page shows the tenant of the signed-in person, otherwise the tenant of the application. */
async function frameFor(
  { workspaces }: Dependencies,
  { headers }: AnyRequest,
  { asked, read }: { readonly asked: Asked; readonly read: Read },
) {
  const tenantId = read.signedIn?.tenantId ?? read.clientTenantId;
  const tenant = tenantId === undefined ? undefined : await workspaces.tenant(tenantId);
  return frameOf(tenant, headers, { uiLocales: asked.ui_locales });
}

async function emailOf(
  { userDirectory }: Dependencies,
  { signedIn }: LogoutRequest,
): Promise<string | undefined> {
  if (signedIn === undefined) return undefined;
  const user = await userDirectory.byId(signedIn.tenantId, signedIn.userId);
  return exists(user) ? ((await userDirectory.emailOf(user)) ?? undefined) : undefined;
}

const fieldsOf = ({ client_id, post_logout_redirect_uri, state, ui_locales }: Asked) =>
  Object.fromEntries(
    Object.entries({ client_id, post_logout_redirect_uri, state, ui_locales }).flatMap(
      ([name, value]) => (value === undefined ? [] : [[name, value]]),
    ),
  );

/** The session ends first, so a cookie that remains names no live session. */
async function signOut(
  { applicationSessions, onward, server }: Dependencies,
  request: AnyRequest,
  of: {
    readonly to: string | undefined;
    readonly asked: Asked;
    readonly read: Read;
    readonly frame: Frame;
  },
) {
  const { to, asked, read, frame } = of;
  if (read.browserSid !== undefined) {
    await applicationSessions.endBrowser(request, read.browserSid, 'logout');
  }
  const cookies = await server().forget(request.headers['cookie']);
  const tenantId = read.signedIn?.tenantId ?? read.clientTenantId;
  const answer =
    to === undefined
      ? send(200, signedOutPage(frame, await onward(tenantId)))
      : redirected(withState(to, asked.state)).raw;
  return {
    raw: (response: ServerResponse): void => {
      response.setHeader('Set-Cookie', cookies);
      answer(response);
    },
  };
}
