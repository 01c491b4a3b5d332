/** The endpoints that the authorization server's library handles, and the metadata documents. */
import { named } from '@cardea/contracts';
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import type { Clock, Settings } from '@cardea/runtime';
import type { RateLimits } from '@cardea/service';
import Type from 'typebox';
import { TOKEN_EXCHANGE_GRANT } from '../../adapters/token-exchange.ts';
import { tooOften } from '../../http/answers.ts';
import { LIMITS } from '../../http/limits.ts';
import { GRANT_TYPES } from '../../workspaces/workspaces.module.ts';
import { formAsAddress } from '../form-as-address.ts';
import { BUILT_IN_SCOPES } from '../resource-servers/known-resources.ts';
import { DEVICE_PASSED } from './device-routes.ts';
import { clientFields, open, type Passed, text } from './passed.ts';
import { isPending, rememberRequest } from './requests.ts';
import type { RunningServer } from './running-server.ts';

type Dependencies = {
  readonly clock: Pick<Clock, 'now'>;
  readonly limits: RateLimits;
  readonly server: RunningServer;
  readonly settings: Pick<Settings, 'ISSUER'>;
};
type AnyRequest = Request<unknown, unknown, unknown>;

const OPEN = {
  tag: 'OAuth',
  who: 'anyone',
  tenant: 'none',
  response: { errors: 'oauth' },
} as const;

const AuthorizeQuery = {
  client_id: Type.String(),
  response_type: Type.Literal('code'),
  redirect_uri: Type.String(),
  // Required, except for applications whose `require_pkce` is false.
  code_challenge: text,
  code_challenge_method: Type.Optional(Type.Literal('S256')),
  scope: text,
  state: text,
  nonce: text,
  prompt: text,
  resource: text,
  request_uri: text,
  dpop_jkt: text,
};
const TokenBody = open({
  grant_type: named('TokenGrantType', Type.Enum([...GRANT_TYPES, TOKEN_EXCHANGE_GRANT])),
  code: text,
  redirect_uri: text,
  code_verifier: text,
  refresh_token: text,
  device_code: text,
  subject_token: text,
  subject_token_type: text,
  requested_token_type: text,
  audience: text,
  scope: text,
  resource: text,
  ...clientFields,
});
const TokenAnswer = open({
  access_token: Type.String(),
  token_type: Type.Enum(['Bearer', 'DPoP']),
  expires_in: Type.Integer(),
  refresh_token: text,
  id_token: text,
  scope: text,
  issued_token_type: text,
  agent_session_id: text,
  capability_token: text,
});

const ROUTES: readonly Passed[] = [
  {
    name: 'authorize',
    summary: 'Ask a user to sign in to an application',
    description:
      'Begins a sign-in to an application (OAuth 2.1, OpenID Connect): the browser is sent to the hosted pages, and then back to `redirect_uri` with a code. PKCE with `S256` is required, unless the application has `require_pkce: false`. Errors go to `redirect_uri`, but for an unknown client or address. An address may call it 120 times a minute.',
    method: 'get',
    repeat: 'get_only',
    path: '/oauth2/authorize',
    query: open(AuthorizeQuery),
    // The response is a redirect, or a page for `response_mode=form_post`.
    ok: Type.String(),
    response: { status: 303, mediaType: 'text/html' },
    limit: LIMITS.authorizeByIp,
  },
  {
    name: 'resume_authorization',
    summary: 'Go on where the user was sent to sign in',
    description:
      'Goes on with a sign-in after the hosted pages. It needs the cookies of the browser that began.',
    method: 'get',
    repeat: 'get_only',
    path: '/oauth2/authorize/{uid}',
    params: Type.Object({ uid: Type.String({ minLength: 1, maxLength: 128 }) }),
    // The response is a redirect, or a page for `response_mode=form_post`.
    ok: Type.String(),
    response: { status: 303, mediaType: 'text/html' },
    limit: LIMITS.authorizeByIp,
  },
  {
    name: 'issue_tokens',
    response: { origins: 'allowed' },
    summary: 'Exchange a code or a token, or sign in as a client',
    description:
      'Exchanges a code, a refresh token or the code of a device for tokens, or gives an application a token in its own name (`client_credentials`). Each code and refresh token works once. An agent, with its id and its key as client credentials, exchanges the access token of a user for its own (RFC 8693): that starts an agent session like `POST /api/v1/agent/sessions`, with the same limits. Errors have the form of RFC 6749. A client that has proved itself may call it 600 times a minute.',
    method: 'post',
    path: '/oauth2/token',
    body: TokenBody,
    ok: TokenAnswer,
    limit: LIMITS.tokenFailuresByIp,
  },
  {
    name: 'revoke_token',
    response: { origins: 'allowed' },
    summary: 'End what a refresh token belongs to',
    description:
      'Ends the session that a refresh token belongs to (RFC 7009). The application authenticates. An unknown token is answered with 200, too.',
    method: 'post',
    path: '/oauth2/revoke',
    body: open({ token: Type.String(), token_type_hint: text, ...clientFields }),
    ok: Type.Unknown(),
    limit: LIMITS.tokenFailuresByIp,
  },
  {
    name: 'push_authorization_request',
    response: { status: 201, origins: 'allowed' },
    summary: 'Leave an authorization request before the user is sent',
    description:
      'Takes the parameters of an authorization request before the browser is sent, and answers a `request_uri` for it (RFC 9126). The application authenticates.',
    method: 'post',
    path: '/oauth2/par',
    body: open({ ...AuthorizeQuery, ...clientFields }),
    ok: open({ request_uri: Type.String(), expires_in: Type.Integer() }),
    // This limit counts refusals by address. Requests are counted by client when the client is known.
    limit: LIMITS.tokenFailuresByIp,
  },
  {
    name: 'openid_configuration',
    response: { origins: 'every' },
    summary: 'What the authorization server can do (OpenID Connect Discovery)',
    description: 'Describes the authorization server to OpenID Connect clients.',
    method: 'get',
    path: '/.well-known/openid-configuration',
    ok: open({ issuer: Type.String() }),
    limit: undefined,
  },
  {
    name: 'authorization_server_metadata',
    response: { origins: 'every' },
    summary: 'What the authorization server can do (RFC 8414)',
    description:
      'Describes the authorization server to clients: addresses, grants, algorithms (RFC 8414).',
    method: 'get',
    path: '/.well-known/oauth-authorization-server',
    ok: open({ issuer: Type.String() }),
    limit: undefined,
  },
];

/**
 * Some clients send their request as a form (OpenID Connect Core 3.1.2.1). A form of another site arrives without the
 * sign-in's cookie, so the browser is redirected to the same request as a URL.
 */
const postAuthorizeRoute = (needs: Pick<Dependencies, 'limits'>): Endpoint =>
  endpoint(
    {
      ...OPEN,
      name: 'post_authorize',
      summary: 'Ask a user to sign in to an application, by a form',
      description:
        'Begins the same sign-in by a form: the browser is sent on to the GET with the same parameters.',
      method: 'post',
      path: '/oauth2/authorize',
      repeat: 'safe',
      input: { takesForm: true, limitBytes: FORM_MAX_BYTES },
      // Errors in the parameters are reported at the address that the browser is redirected to.
      body: Type.Object({ client_id: text }, { additionalProperties: Type.String() }),
      ok: Type.String(),
      response: { status: 303, mediaType: 'text/html', errors: 'oauth' },
      refusals: { invalid_request: 400, rate_limited: 429 },
    },
    async ({ body, ip }) => {
      const room = await needs.limits.take([LIMITS.formsByIp, ip]);
      if (!room.allowed) return tooOften(room);
      const to = formAsAddress('/oauth2/authorize', body as { readonly [name: string]: string });
      if ('refused' in to) return to;
      return {
        raw: (response) => {
          response.writeHead(303, { Location: to.address }).end();
        },
      };
    },
  );

const FORM_MAX_BYTES = 16 * 1024;
const REFUSED = 400;

export const serverRoutes = (needs: Dependencies): readonly Endpoint[] => [
  ...[...ROUTES, ...DEVICE_PASSED].map(({ limit, response: rule, ...route }) =>
    endpoint(
      {
        ...OPEN,
        ...route,
        input: { passedOn: true },
        response: { mediaType: 'application/json', errors: 'oauth', ...rule },
        ...(route.method === 'post' ? { repeat: 'never' as const } : {}),
        refusals: { rate_limited: 429 },
      },
      async (request) => {
        const charges = limit === undefined ? [] : ([[limit, request.ip]] as const);
        const taken = await needs.limits.take(...charges);
        if (!taken.allowed) return tooOften(taken);
        return {
          raw: async (response, message, answered, recordDenial) => {
            const passed = { request: request as AnyRequest, answered, recordDenial };
            rememberRequest(message, { ...passed, receivedAt: needs.clock.now() });
            if (route.method === 'post') response.setHeader('Cache-Control', 'no-store');
            await needs.server().handle(message, response);
            if (limit?.counts !== 'misses') return;
            const isRefused = response.statusCode >= REFUSED && !isPending(message);
            await (isRefused ? taken.keep() : taken.giveBack());
          },
        };
      },
    ),
  ),
  postAuthorizeRoute(needs),
  ...protectedResourceRoutes(needs),
];

/**
 * The document that names the authorization server of a resource to a client that was refused (RFC 9728). It is served
 * at the address that is derived from the resource, and at the address without the resource's path for clients that
 * derive nothing.
 */
const protectedResourceRoutes = (needs: Pick<Dependencies, 'settings'>): readonly Endpoint[] =>
  (
    [
      ['protected_resource_metadata_of_api', '/.well-known/oauth-protected-resource/api'],
      ['protected_resource_metadata', '/.well-known/oauth-protected-resource'],
    ] as const
  ).map(([name, path]) => protectedResourceRoute(needs, name, path));

const protectedResourceRoute = (
  { settings }: Pick<Dependencies, 'settings'>,
  name: string,
  path: string,
): Endpoint =>
  endpoint(
    {
      name,
      response: { origins: 'every' },
      summary: 'Where tokens for this API come from (RFC 9728)',
      description:
        'Says which issuers this API takes tokens from, so that a client whose call was refused knows where to ask.',
      tag: 'Discovery',
      method: 'get',
      path,
      who: 'anyone',
      tenant: 'none',
      ok: Type.Object(
        {
          resource: Type.String(),
          authorization_servers: Type.Array(Type.String()),
          scopes_supported: Type.Array(Type.String()),
          bearer_methods_supported: Type.Array(Type.String()),
        },
        { additionalProperties: false },
      ),
      refusals: {},
    },
    async () => ({
      ok: {
        resource: `${settings.ISSUER}/api`,
        authorization_servers: [settings.ISSUER],
        scopes_supported: Object.keys(BUILT_IN_SCOPES),
        bearer_methods_supported: ['header'],
      },
    }),
  );
