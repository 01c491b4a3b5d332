/** The endpoints that the authorization server's library answers, and the documents about it. */
import { named } from '@cardea/contracts';
import { type Contract, type Endpoint, endpoint, type Request } from '@cardea/http';
import type { Settings } from '@cardea/runtime';
import type { RateLimit, RateLimits } from '@cardea/service';
import Type, { type TObject, type TSchema } from 'typebox';
import { tooOften } from '../../http/answers.ts';
import { LIMITS } from '../../http/limits.ts';
import { GRANT_TYPES } from '../../workspaces/workspaces.module.ts';
import { BUILT_IN_SCOPES } from '../resource-servers/known-resources.ts';
import { rememberRequest } from './requests.ts';
import type { RunningServer } from './running-server.ts';

type Dependencies = {
  readonly limits: RateLimits;
  readonly server: RunningServer;
  readonly settings: Pick<Settings, 'ISSUER'>;
};
type AnyRequest = Request<unknown, unknown, unknown>;

const OPEN = {
  tag: 'OAuth',
  who: 'anyone',
  tenant: 'none',
  area: 'user',
  oauthErrors: true,
  recordsItsRefusals: true,
} as const;
const COMMON = { ...OPEN, passedOn: true, okMediaType: 'application/json' } as const;

const text = Type.Optional(Type.String());
const open = <Fields extends { readonly [name: string]: TSchema }>(fields: Fields) =>
  Type.Object(fields, { additionalProperties: true });

const AuthorizeQuery = {
  client_id: Type.String(),
  response_type: Type.Literal('code'),
  redirect_uri: Type.String(),
  code_challenge: Type.String(),
  code_challenge_method: Type.Literal('S256'),
  ...{ scope: text, state: text, nonce: text, prompt: text, resource: text, request_uri: text },
};
const credentials = { client_id: text, client_secret: text, client_assertion: text };
const clientFields = { ...credentials, client_assertion_type: text };
const TokenBody = open({
  grant_type: named('GrantType', Type.Enum([...GRANT_TYPES])),
  ...{ code: text, redirect_uri: text, code_verifier: text, refresh_token: text },
  ...{ scope: text, resource: text, ...clientFields },
});
const TokenAnswer = open({
  access_token: Type.String(),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer(),
  ...{ refresh_token: text, id_token: text, scope: text },
});

type Passed = {
  readonly name: string;
  readonly summary: string;
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly params?: TObject;
  readonly query?: TObject;
  readonly body?: TSchema;
  readonly ok: TSchema;
  readonly status?: number;
  readonly okMediaType?: string;
  readonly origins?: NonNullable<Contract['origins']>;
  /** Counted before; or only where the answer is a refusal. */
  readonly limit: RateLimit | undefined;
  readonly countsFailures?: true;
};

const ROUTES: readonly Passed[] = [
  {
    name: 'authorize',
    summary: 'Ask a user to sign in to an application',
    method: 'get',
    path: '/oauth2/authorize',
    query: open(AuthorizeQuery),
    // A redirect; or a page, for `response_mode=form_post`.
    ok: Type.String(),
    status: 303,
    okMediaType: 'text/html',
    limit: LIMITS.authorizeByIp,
  },
  {
    name: 'resume_authorization',
    summary: 'Go on where the user was sent to sign in',
    method: 'get',
    path: '/oauth2/authorize/{uid}',
    params: Type.Object({ uid: Type.String({ minLength: 1, maxLength: 128 }) }),
    // A redirect; or a page, for `response_mode=form_post`.
    ok: Type.String(),
    status: 303,
    okMediaType: 'text/html',
    limit: LIMITS.authorizeByIp,
  },
  {
    name: 'issue_tokens',
    origins: 'allowed',
    summary: 'Exchange a code or a refresh token, or sign in as a client',
    method: 'post',
    path: '/oauth2/token',
    body: TokenBody,
    ok: TokenAnswer,
    limit: LIMITS.tokenFailuresByIp,
    countsFailures: true,
  },
  {
    name: 'revoke_token',
    origins: 'allowed',
    summary: 'End what a refresh token belongs to',
    method: 'post',
    path: '/oauth2/revoke',
    body: open({ token: Type.String(), token_type_hint: text, ...clientFields }),
    ok: Type.Unknown(),
    limit: LIMITS.tokenFailuresByIp,
    countsFailures: true,
  },
  {
    name: 'push_authorization_request',
    origins: 'allowed',
    summary: 'Leave an authorization request before the user is sent',
    method: 'post',
    path: '/oauth2/par',
    body: open({ ...AuthorizeQuery, ...clientFields }),
    ok: open({ request_uri: Type.String(), expires_in: Type.Integer() }),
    status: 201,
    // Counted by client, once that is known; and refusals by address.
    limit: LIMITS.tokenFailuresByIp,
    countsFailures: true,
  },
  {
    name: 'openid_configuration',
    origins: 'every',
    summary: 'What the authorization server can do (OpenID Connect Discovery)',
    method: 'get',
    path: '/.well-known/openid-configuration',
    ok: open({ issuer: Type.String() }),
    limit: undefined,
  },
  {
    name: 'authorization_server_metadata',
    origins: 'every',
    summary: 'What the authorization server can do (RFC 8414)',
    method: 'get',
    path: '/.well-known/oauth-authorization-server',
    ok: open({ issuer: Type.String() }),
    limit: undefined,
  },
];

/**
 * Some clients send their request as a form (OpenID Connect Core 3.1.2.1). The browser is sent on to the same
 * request as an address: from another site's page a form comes without the cookie of the sign-in.
 */
const postAuthorizeRoute = (needs: Pick<Dependencies, 'limits'>): Endpoint =>
  endpoint(
    {
      ...OPEN,
      name: 'post_authorize',
      summary: 'Ask a user to sign in to an application, by a form',
      method: 'post',
      path: '/oauth2/authorize',
      retry: 'safe',
      takesForm: true,
      bodyLimitBytes: FORM_MAX_BYTES,
      // What is wrong with it is told where the browser is sent.
      body: Type.Object({ client_id: text }, { additionalProperties: Type.String() }),
      ok: Type.String(),
      status: 303,
      okMediaType: 'text/html',
      refusals: { rate_limited: 429 },
    },
    async ({ body, ip }) => {
      const room = await needs.limits.look(LIMITS.authorizeByIp, ip);
      if (!room.allowed) return tooOften(room);
      const query = new URLSearchParams(body);
      return {
        raw: (response) => {
          response.writeHead(303, { Location: `/oauth2/authorize?${query}` }).end();
        },
      };
    },
  );

const FORM_MAX_BYTES = 16 * 1024;
const REFUSED = 400;

export const serverRoutes = (needs: Dependencies): readonly Endpoint[] => [
  ...ROUTES.map(({ limit, countsFailures, ...route }) =>
    endpoint(
      {
        ...COMMON,
        ...route,
        ...(route.method === 'post' ? { retry: 'never' as const } : {}),
        refusals: { rate_limited: 429 },
      },
      async (request) => {
        if (limit !== undefined) {
          const room = countsFailures
            ? await needs.limits.look(limit, request.ip)
            : await needs.limits.take(limit, request.ip);
          if (!room.allowed) return tooOften(room);
        }
        return {
          raw: async (response, message, ofTenant) => {
            rememberRequest(message, { request: request as AnyRequest, answered: ofTenant });
            if (route.method === 'post') response.setHeader('Cache-Control', 'no-store');
            await needs.server().handle(message, response);
            if (limit === undefined || countsFailures !== true) return;
            if (response.statusCode >= REFUSED) await needs.limits.take(limit, request.ip);
          },
        };
      },
    ),
  ),
  postAuthorizeRoute(needs),
  protectedResourceRoute(needs),
];

/** Where a client that was refused learns whom to ask for a token (RFC 9728). */
const protectedResourceRoute = ({ settings }: Pick<Dependencies, 'settings'>): Endpoint =>
  endpoint(
    {
      name: 'protected_resource_metadata',
      origins: 'every',
      summary: 'Where tokens for this API come from (RFC 9728)',
      tag: 'Discovery',
      method: 'get',
      path: '/.well-known/oauth-protected-resource',
      who: 'anyone',
      tenant: 'none',
      area: 'user',
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
