/**
 * Signs people in to Cardea's own pages and out again. Like any application, the pages use the authorization server.
 * The access token is in an encrypted cookie that all services can read.
 */
import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type DerivedKeys, sha256 } from '@cardea/crypto';
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import {
  CALLBACK_PATH,
  type Html,
  isFormToken,
  isOwnForm,
  PAGE_CONTRACT,
  type PageCookies,
  pageClaims,
  returnPath,
  SIGN_IN_PATH,
  SIGN_OUT_PATH,
  send,
  signInAddress,
} from '@cardea/pages';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { tooOften } from '../../http/answers.ts';
import { FLOW_MS, flowCookies, type PendingFlow } from '../../http/flow-cookies.ts';
import { LIMITS } from '../../http/limits.ts';
import { frameOf } from '../../pages/frame.ts';
import type { FindOnward } from '../../pages/onward.ts';
import type { Workspaces } from '../../workspaces/workspaces.module.ts';
import { signedOutPage } from '../logout/logout-pages.ts';
import type { ApplicationSessions } from '../server/application-sessions.ts';
import type { RunningServer } from '../server/running-server.ts';
import { lapsedSignInPage, organizationPage } from './page-sign-in-pages.ts';
import type { PageTokens } from './page-tokens.ts';
import { PAGE_SCOPES, pagesCallback, pagesClientId } from './pages-client.ts';
import type { FindTenant } from './tenant-of-name.ts';

type Dependencies = Pick<ServiceDependencies, 'clock' | 'limits' | 'settings'> & {
  readonly applicationSessions: Pick<ApplicationSessions, 'browserOf' | 'endBrowser'>;
  readonly findTenant: FindTenant;
  readonly flowKeys: DerivedKeys;
  readonly pageCookies: PageCookies;
  readonly pageTokens: PageTokens;
  readonly onward: FindOnward;
  readonly server: RunningServer;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
};
type AnyRequest = Request<unknown, unknown, unknown>;

type PageFlow = PendingFlow & {
  readonly tenantId: string;
  readonly verifier: string;
  readonly returnTo: string;
};

const RANDOM_BYTES = 24;
const NAME_MAX_CHARS = 128;
const PATH_MAX_CHARS = 512;
const CODE_MAX_CHARS = 512;
const FORM_MAX_BYTES = 4 * 1024;

const text = (maxLength: number) => Type.Optional(Type.String({ maxLength }));

export const pageSignInRoutes = (given: Dependencies): readonly Endpoint[] => {
  const needs = { ...given, flows: flowsOf(given.settings) };
  return [beginRoute(needs), callbackRoute(needs), signOutRoute(needs)];
};

type WithFlows = Dependencies & { readonly flows: ReturnType<typeof flowsOf> };

function flowsOf({ PUBLIC_URL }: Dependencies['settings']) {
  const isSecure = PUBLIC_URL.startsWith('https:');
  const prefix = `${isSecure ? '__Host-' : ''}pages-`;
  return flowCookies<PageFlow>({ prefix, isSecure, aad: ['page sign-in'] });
}

const sent = ({ flowKeys, clock }: Dependencies, { headers }: AnyRequest) => ({
  header: headers['cookie'],
  keys: flowKeys,
  now: clock.now(),
});

const lapsed = ({ headers }: AnyRequest, returnTo: string) =>
  shown(400, lapsedSignInPage(frameOf(undefined, headers), signInAddress({ returnTo })));

const beginRoute = (needs: WithFlows): Endpoint =>
  endpoint(
    {
      ...PAGE_CONTRACT,
      name: 'begin_page_sign_in',
      summary: 'Sign in to the pages',
      description: 'Sends the browser to the hosted sign-in, and back to a page.',
      method: 'get',
      repeat: 'get_only',
      path: SIGN_IN_PATH,
      query: Type.Object({
        in: text(NAME_MAX_CHARS),
        return_to: text(PATH_MAX_CHARS),
        fresh: Type.Optional(Type.Enum(['true'])),
      }),
      refusals: { rate_limited: 429 },
    },
    async (request) => {
      const room = await needs.limits.take([LIMITS.authorizeByIp, request.ip]);
      if (!room.allowed) return tooOften(room);
      const { in: name, return_to, fresh } = request.query;
      const returnTo = returnPath(return_to, needs.settings.PUBLIC_URL);
      const tenant = await needs.findTenant(name);
      if (tenant === undefined) {
        const frame = frameOf(undefined, request.headers);
        return shown(200, organizationPage(frame, { action: SIGN_IN_PATH, returnTo, name }));
      }
      const [state, verifier] = [random(), random()];
      const { PUBLIC_URL: publicUrl, ISSUER: issuer } = needs.settings;
      const query = new URLSearchParams({
        client_id: pagesClientId(tenant.id),
        response_type: 'code',
        redirect_uri: pagesCallback(publicUrl),
        scope: PAGE_SCOPES.join(' '),
        state,
        code_challenge: sha256(verifier).toString('base64url'),
        code_challenge_method: 'S256',
        ...(fresh === undefined ? {} : { prompt: 'login' }),
      });
      const expiresAt = needs.clock.now().getTime() + FLOW_MS;
      const flow = { state, verifier, tenantId: tenant.id, returnTo, expiresAt };
      const cookies = needs.flows.begun(flow, sent(needs, request));
      return onwards(`${issuer}/oauth2/authorize?${query}`, cookies);
    },
  );

const callbackRoute = (needs: WithFlows): Endpoint =>
  endpoint(
    {
      ...PAGE_CONTRACT,
      name: 'finish_page_sign_in',
      summary: 'Come back from the hosted sign-in',
      description: 'Takes the code of the sign-in that this browser began, and leads to its page.',
      method: 'get',
      repeat: 'get_only',
      path: CALLBACK_PATH,
      // The authorization server may add parameters.
      query: Type.Object(
        {
          code: text(CODE_MAX_CHARS),
          state: text(CODE_MAX_CHARS),
          error: text(CODE_MAX_CHARS),
        },
        { additionalProperties: true },
      ),
      refusals: { rate_limited: 429 },
    },
    async (request) => {
      const room = await needs.limits.take([LIMITS.authorizeByIp, request.ip]);
      if (!room.allowed) return tooOften(room);
      const { code = '', state = '' } = request.query;
      const flow = needs.flows.pending(state, sent(needs, request));
      if (flow === undefined) return lapsed(request, '');
      const { tenantId, verifier, returnTo } = flow;
      const clientId = pagesClientId(tenantId);
      const signIn =
        code === '' ? undefined : await needs.server().redeem({ code, clientId, verifier });
      const token = signIn && (await needs.pageTokens.issue({ ...signIn, tenantId }));
      if (token === undefined) return lapsed(request, returnTo);
      const cookie = needs.pageCookies.written(needs.pageCookies.begun(token));
      return onwards(returnTo, [cookie, needs.flows.ended(state)]);
    },
  );

const signOutRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...PAGE_CONTRACT,
      name: 'sign_out_of_pages',
      summary: 'Sign out of the pages',
      description: 'Ends the sign-in of this browser, at the pages and at applications alike.',
      method: 'post',
      repeat: 'safe',
      input: { takesForm: true, limitBytes: FORM_MAX_BYTES },
      path: SIGN_OUT_PATH,
      body: Type.Object({ form_token: Type.String({ maxLength: CODE_MAX_CHARS }) }),
      refusals: { access_denied: 403, rate_limited: 429 },
    },
    async (request) => {
      const room = await needs.limits.take([LIMITS.formsByIp, request.ip]);
      if (!room.allowed) return tooOften(room);
      const cookie = needs.pageCookies.read(request.headers);
      const isOurs =
        isOwnForm(request.headers, ownOrigins(needs)) &&
        (cookie === undefined || isFormToken(request.body.form_token, cookie, SIGN_OUT_PATH));
      if (!isOurs) return { refused: 'access_denied' } as const;
      const cookies = await endSignIn(needs, request);
      return shown(
        200,
        signedOutPage(frameOf(undefined, request.headers), await needs.onward(undefined)),
        cookies,
      );
    },
  );

/** The session ends first, so cookies that remain name no live session. */
async function endSignIn(needs: Dependencies, request: AnyRequest): Promise<readonly string[]> {
  const { cookie: header } = request.headers;
  const cookie = needs.pageCookies.read(request.headers);
  const browser = await needs.server().signedIn(header);
  const sids = new Set([browser?.browserSid, cookie && pageClaims(cookie).sid]);
  for (const sid of sids) {
    if (sid !== undefined) await needs.applicationSessions.endBrowser(request, sid, 'logout');
  }
  return [...needs.pageCookies.ended(), ...(await needs.server().forget(header))];
}

const ownOrigins = ({ settings }: Pick<Dependencies, 'settings'>): readonly string[] =>
  [settings.PUBLIC_URL, settings.ISSUER].map((url) => new URL(url).origin);

const random = (): string => randomBytes(RANDOM_BYTES).toString('base64url');

const onwards = (location: string, cookies: readonly string[]) => ({
  raw: (response: ServerResponse): void => {
    response.writeHead(303, {
      Location: location,
      'Set-Cookie': [...cookies],
      'Cache-Control': 'no-store',
      'Referrer-Policy': 'no-referrer',
    });
    response.end();
  },
});

const shown = (status: number, page: Html, cookies: readonly string[] = []) => ({
  raw: (response: ServerResponse): void => {
    if (cookies.length > 0) response.setHeader('Set-Cookie', [...cookies]);
    send(status, page)(response);
  },
});
