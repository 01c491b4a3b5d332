/**
 * The hosted pages, and the same as JSON under the same addresses, for the cookie that names an interaction is
 * bound to them. Only pages of the deployment's own origin may post.
 */
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type, { type Static } from 'typebox';
import type { HostedOutcome, HostedSignIn } from '../../authentication/authentication.module.ts';
import type { Workspaces } from '../../workspaces/workspaces.module.ts';
import type { KnownResources } from '../resource-servers/known-resources.ts';
import type { OAuthClients } from '../server/clients.ts';
import type { RunningServer } from '../server/running-server.ts';
import type { UserConsents } from '../server/user-consents.ts';
import { chosenScopes } from './chosen-scopes.ts';
import { findInteraction, finish, type Interaction, keepSecondFactor } from './interaction.ts';
import { interactionPage, interactionView } from './interaction-view.ts';
import { errorPage, type Html } from './page.ts';

type Dependencies = Pick<ServiceDependencies, 'command' | 'settings'> & {
  readonly server: RunningServer;
  readonly clients: Pick<OAuthClients, 'find'>;
  readonly resources: KnownResources;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  readonly userConsents: Pick<UserConsents, 'grant'>;
  readonly hostedSignIn: HostedSignIn;
};

const PATH = '/oauth2/interaction/{uid}';
const Params = Type.Object({ uid: Type.String({ minLength: 1, maxLength: 128 }) });
const BODY_MAX_BYTES = 16 * 1024;

const COMMON = {
  tag: 'OAuth',
  who: 'anyone',
  tenant: 'none',
  area: 'user',
  oauthErrors: true,
  params: Params,
  noStore: true,
  recordsItsRefusals: true,
} as const;
const POST = {
  ...COMMON,
  method: 'post',
  retry: 'never',
  takesForm: true,
  bodyLimitBytes: BODY_MAX_BYTES,
  ok: Type.Object(
    {
      redirect_to: Type.Optional(Type.String()),
      mfa_required: Type.Optional(Type.Literal(true)),
      mfa_methods: Type.Optional(Type.Array(Type.String())),
    },
    { additionalProperties: false },
  ),
  refusals: {
    interaction_not_found: 404,
    access_denied: 403,
    invalid_email: 400,
    invalid_credentials: 401,
    invalid_code: 401,
    invalid_mfa_token: 401,
    email_not_verified: 403,
    password_login_disabled: 403,
    mfa_token_expired: 410,
    enrolment_expired: 410,
    too_many_attempts: 429,
    rate_limited: 429,
  },
} as const;
type Code = keyof typeof POST.refusals;

type Uid = Static<typeof Params>;
type AnyRequest = Request<Uid, object, unknown>;

export const interactionRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'interaction',
      clientName: 'get_interaction',
      summary: 'What the authorization server asks of the user',
      method: 'get',
      path: PATH,
      ok: Type.Object(
        { uid: Type.String(), prompt: Type.String() },
        { additionalProperties: true },
      ),
      refusals: { interaction_not_found: 404 },
    },
    async (request) => {
      const found = await interactionOf(needs, request);
      if (found === undefined) {
        return wantsJson(request) ? NOT_FOUND : shown(404, errorPage(LAPSED));
      }
      const view = await interactionView(needs, found);
      return wantsJson(request) ? { ok: view } : shown(200, interactionPage(view, found));
    },
  );

export const interactionLoginRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...POST,
      name: 'interaction_login',
      summary: 'Sign in at the authorization server',
      path: `${PATH}/login`,
      body: Type.Object(
        { email: Type.String({ maxLength: 254 }), password: Type.String({ maxLength: 1_024 }) },
        { additionalProperties: false },
      ),
    },
    (request) =>
      answered(needs, request, ({ client }) =>
        needs.hostedSignIn.byPassword({ ...request, tenantId: client.tenantId }, request.body),
      ),
  );

export const interactionMfaRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...POST,
      name: 'interaction_mfa',
      summary: 'Show the second factor at the authorization server',
      path: `${PATH}/mfa`,
      body: Type.Object(
        {
          method: Type.Enum(['totp', 'recovery']),
          code: Type.String({ minLength: 1, maxLength: 64 }),
        },
        { additionalProperties: false },
      ),
    },
    (request) =>
      answered(needs, request, async ({ client, secondFactor }) => {
        if (secondFactor === undefined) return refusedBy('invalid_mfa_token');
        const shownSecond = { ...request.body, mfa_token: secondFactor.token };
        const own = { ...request, tenantId: client.tenantId };
        return needs.hostedSignIn.bySecondFactor(own, shownSecond);
      }),
  );

export const interactionConsentRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...POST,
      name: 'interaction_consent',
      summary: 'Let an application act for me',
      path: `${PATH}/consent`,
      // A form has a field for each scope.
      body: Type.Object(
        { scopes: Type.Optional(Type.Array(Type.String({ maxLength: 128 }), { maxItems: 200 })) },
        { additionalProperties: Type.String({ maxLength: 16 }) },
      ),
      bodyOptional: true,
      waitsFor: ['consents'],
    },
    async (request) => {
      const found = await postedTo(needs, request);
      if ('refused' in found) return found;
      const { stored, client, missing } = found;
      const userId = stored.session?.accountId;
      if (stored.prompt.name !== 'consent' || userId === undefined) return NOT_FOUND;
      const granted = chosenScopes(missing, request.body, isForm(request));
      const { tenantId, application } = client;
      const command = await needs.command(request, {
        tenantId,
        actor: { type: 'user', id: userId },
      });
      const grant = { tenantId, userId, clientId: application.id, granted, by: 'user' } as const;
      const wrote = await needs.userConsents.grant(grant, command);
      return goOn(request, await finish(needs, found, { consent: {} }), wrote);
    },
  );

export const interactionAbortRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...POST,
      name: 'abort_interaction',
      summary: 'Go back to the application without signing in',
      path: `${PATH}/abort`,
      body: Type.Object({}, { additionalProperties: false }),
      bodyOptional: true,
    },
    async (request) => {
      const found = await postedTo(needs, request);
      if ('refused' in found) return found;
      const result = { error: 'access_denied', error_description: 'the user has cancelled' };
      return goOn(request, await finish(needs, found, result));
    },
  );

const LAPSED = 'This page has lapsed. Go back to the application and start again.';
const NOT_FOUND = { refused: 'interaction_not_found' } as const;
const FOREIGN = { refused: 'access_denied' } as const;

const interactionOf = (needs: Dependencies, { params, headers }: AnyRequest) =>
  findInteraction(needs, params.uid, headers['cookie']);

/** A cookie comes along whoever's page posts, so the page has to be ours. */
async function postedTo(
  needs: Dependencies,
  request: AnyRequest,
): Promise<Interaction | typeof FOREIGN | typeof NOT_FOUND> {
  const { origin, 'sec-fetch-site': site } = request.headers;
  const own = new URL(needs.settings.ISSUER).origin;
  const isOwn = origin === undefined ? site === 'same-origin' : origin === own;
  if (!isOwn) return FOREIGN;
  return (await interactionOf(needs, request)) ?? NOT_FOUND;
}

const refusedBy = (code: Code): HostedOutcome => ({
  status: 'refused',
  code,
  retryAfter: undefined,
});

const MESSAGES: { readonly [code: string]: string } = {
  invalid_code: 'That code is not right.',
  email_not_verified: 'Confirm your e-mail address first: we have sent you a mail.',
  too_many_attempts: 'Too many attempts. Try again later.',
  rate_limited: 'Too many attempts. Try again later.',
};
const MESSAGE = 'That did not work. Check what you have entered.';

async function answered(
  needs: Dependencies,
  request: AnyRequest,
  signIn: (interaction: Interaction) => Promise<HostedOutcome>,
) {
  const found = await postedTo(needs, request);
  if ('refused' in found) return found;
  const outcome = await signIn(found);
  switch (outcome.status) {
    case 'signed_in': {
      const { user_id: accountId, auth_time: ts, amr, id: acr } = outcome.session;
      // The library has one text that goes from the sign-in to the code: the session's id.
      const login = { accountId, ts, amr: [...amr], acr, remember: true };
      return goOn(request, await finish(needs, found, { login }));
    }
    case 'second_factor_due': {
      const { mfaToken: token, shown: due } = outcome;
      await keepSecondFactor(found, { token, methods: due.mfa_methods });
      if (isForm(request)) return redirected(`/oauth2/interaction/${request.params.uid}`);
      return { ok: due };
    }
    case 'refused': {
      const { code, retryAfter } = outcome;
      if (isForm(request)) {
        const view = await interactionView(needs, found);
        const status = POST.refusals[code as Code];
        return shown(status, interactionPage(view, found, MESSAGES[code] ?? MESSAGE));
      }
      const headers = retryAfter === undefined ? {} : { 'Retry-After': retryAfter };
      return { refused: code as Code, headers };
    }
  }
}

const wantsJson = ({ headers }: AnyRequest): boolean =>
  (headers['accept'] ?? '').includes('application/json');
const isForm = ({ headers }: AnyRequest): boolean =>
  (headers['content-type'] ?? '').startsWith('application/x-www-form-urlencoded');

const goOn = (request: AnyRequest, redirect_to: string, wrote?: bigint) =>
  isForm(request) ? redirected(redirect_to) : { ok: { redirect_to }, wrote };

const redirected = (to: string) => ({
  raw: (response: import('node:http').ServerResponse) => {
    response.writeHead(303, { Location: to, 'Cache-Control': 'no-store' }).end();
  },
});

const shown = (status: number, { html, headers }: Html) => ({
  raw: (response: import('node:http').ServerResponse) => {
    response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(html) });
    response.end(html);
  },
});
