/** The configuration of the authorization server's library, including its callbacks. */
import { DPOP_ALGORITHMS } from '@cardea/auth';
import { type Configuration, errors } from 'oidc-provider';
import { adapterOf } from './authorization-artifacts.ts';
import {
  type Ctx,
  documentTenantOf,
  type IssuedFor,
  machineScopesOf,
  type Ports,
  scopesOf,
  tenantFor,
} from './authorization-ports.ts';
import { CLIENT_ALGORITHMS, DEFAULT_CLIENT_ALGORITHM } from './client-algorithms.ts';
import { ASSERTION_ALGORITHMS } from './client-key.ts';
import { DEVICE_CODE_SECONDS, DEVICE_ROUTES, deviceFlow, isAboutDevice } from './device-flow.ts';
import { loginPolicy, PROMPTS } from './login-policy.ts';
import { offlineAccessParameter } from './offline-access.ts';
import { useProof } from './possession.ts';

const CONFIDENTIAL = ['client_secret_basic', 'client_secret_post', 'private_key_jwt'];
const CODE_SECONDS = 60;
/** How long a page waits for a person. A page that waits for a mail is kept as long as the mail's secret works. */
export const INTERACTION_SECONDS = 600;
const SESSION_SECONDS = 12 * 3_600;

export function configurationOf(ports: Ports): Configuration {
  const configuration = {
    adapter: (name: string) => adapterOf(ports, name),
    jwks: { keys: ports.jwks },
    clients: [],
    responseTypes: ['code'],
    scopes: ports.scopes,
    subjectTypes: ['public'],
    acrValues: [],
    clientAuthMethods: ['none', ...CONFIDENTIAL],
    enabledJWA: {
      idTokenSigningAlgValues: CLIENT_ALGORITHMS,
      clientAuthSigningAlgValues: ASSERTION_ALGORITHMS,
      dPoPSigningAlgValues: DPOP_ALGORITHMS,
    },
    clientDefaults: { id_token_signed_response_alg: DEFAULT_CLIENT_ALGORITHM },
    extraClientMetadata: {
      properties: [
        ...['tenant_id', 'first_party', 'allowed_scopes', 'machine_scopes', 'tokens_before'],
        'require_pkce',
        'agent',
      ],
    },
    extraParams: offlineAccessParameter,
    pkce: { required: (_ctx: unknown, client: PkceClient) => requiresPkce(client) },
    claims: {
      openid: ['sub', 'auth_time', 'amr'],
      profile: ['name', 'picture', 'locale', 'preferred_username', 'updated_at'],
      email: ['email', 'email_verified'],
    },
    cookies: cookiesOf(ports),
    routes: {
      authorization: '/oauth2/authorize',
      token: '/oauth2/token',
      revocation: '/oauth2/revoke',
      pushed_authorization_request: '/oauth2/par',
      jwks: '/oauth2/jwks',
      ...DEVICE_ROUTES,
    },
    discovery: discoveryOf(ports),
    ttl: {
      AuthorizationCode: CODE_SECONDS,
      DeviceCode: DEVICE_CODE_SECONDS,
      Interaction: INTERACTION_SECONDS,
      Session: SESSION_SECONDS,
      IdToken: 3_600,
      Grant: SESSION_SECONDS,
      AccessToken: (_ctx: unknown, token: { resourceServer?: { accessTokenTTL?: number } }) =>
        token.resourceServer?.accessTokenTTL ?? ports.accessSeconds,
      ClientCredentials: (_ctx: unknown, token: { resourceServer?: { accessTokenTTL?: number } }) =>
        token.resourceServer?.accessTokenTTL ?? ports.accessSeconds,
    },
    expiresWithSession: () => false,
    issueRefreshToken: () => false,
    revokeGrantPolicy: () => false,
    findAccount: (ctx: Ctx, id: string) => accountOf(ports, ctx, id),
    loadExistingGrant: (ctx: Ctx) => existingGrant(ports, ctx),
    renderError: (ctx: Ctx, out: { error: string; error_description?: string }) =>
      ports.errorPage(ctx, out),
    interactions: {
      policy: loginPolicy(ports),
      url: (_ctx: Ctx, { uid }: { uid: string }) => `/oauth2/interaction/${uid}`,
    },
    formats: {
      customizers: {
        jwt: async (ctx: Ctx, token: IssuedToken, jwt: { payload: object }) => {
          await useProof(ctx.req);
          const claims = await ports.accessClaims(ctx.req, await issuedFor(ports, ctx, token));
          jwt.payload = claims;
          // A machine that names no scope gets all of its scopes, and the response lists them.
          if (token.accountId === undefined) token.scope = String(claims['scope']) || undefined;
        },
      },
    },
    // The library fetches only client documents.
    fetch: (url: string | URL) => ports.fetchDocument(String(url)),
    features: featuresOf(ports),
  };
  return configuration as unknown as Configuration;
}

type PkceClient = { readonly clientAuthMethod?: string; readonly [field: string]: unknown };

/** PKCE may be waived only for a registered client that authenticates. A client document cannot waive it. */
const requiresPkce = (client: PkceClient): boolean =>
  client['require_pkce'] !== false || client.clientAuthMethod === 'none';

/** Metadata fields that the library does not produce itself. */
const discoveryOf = ({ issuer }: Pick<Ports, 'issuer'>) => ({
  introspection_endpoint: `${issuer}/oauth2/introspect`,
  introspection_endpoint_auth_methods_supported: CONFIDENTIAL,
  introspection_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
  prompt_values_supported: PROMPTS,
  end_session_endpoint: `${issuer}/oauth2/session/end`,
  backchannel_logout_supported: true,
  backchannel_logout_session_supported: true,
  userinfo_endpoint: `${issuer}/oauth2/userinfo`,
  userinfo_signing_alg_values_supported: CLIENT_ALGORITHMS,
});

function cookiesOf({ issuer, cookieKeys }: Ports) {
  const isHttps = issuer.startsWith('https:');
  const cookie = { signed: true, httpOnly: true, sameSite: 'lax' as const, secure: isHttps };
  const prefix = isHttps ? '__Host-' : '';
  return {
    keys: cookieKeys,
    names: {
      session: `${prefix}cardea_session`,
      interaction: 'cardea_interaction',
      resume: 'cardea_resume',
    },
    long: { ...cookie, path: '/' },
    short: cookie,
  };
}

const featuresOf = (ports: Ports) => ({
  devInteractions: { enabled: false },
  // The library detects replays per client. Our own check detects them per key and across replicas (`possession.ts`).
  dPoP: { enabled: true, allowReplay: true },
  userinfo: { enabled: false },
  introspection: { enabled: false },
  // The library always asks the person and refuses a hint that does not verify, so `oauth/logout` replaces it.
  rpInitiatedLogout: { enabled: false },
  registration: { enabled: false },
  deviceFlow: deviceFlow(ports),
  clientCredentials: { enabled: true },
  pushedAuthorizationRequests: { enabled: true },
  clientIdMetadataDocument: {
    enabled: true,
    ack: 'draft-02',
    cacheDuration: { min: 30, max: 3_600 },
    allowFetch: async (ctx: Ctx) =>
      (await isDocumentTenant(ports, ctx)) && ports.admitsDocument(ctx.req),
    allowClient: (ctx: Ctx) => isDocumentTenant(ports, ctx),
  },
  revocation: {
    enabled: true,
    allowedPolicy: (_ctx: Ctx, client: { clientId: string }, token: { clientId?: string }) =>
      token.clientId === client.clientId,
  },
  resourceIndicators: {
    enabled: true,
    defaultResource: (_ctx: Ctx, _client: unknown, oneOf?: readonly string[]) => {
      if (oneOf !== undefined) throw new errors.InvalidTarget('exactly one resource');
      return ports.builtIn;
    },
    useGrantedResource: () => true,
    getResourceServerInfo: (ctx: Ctx, identifier: string, client: Ctx['oidc']['client']) =>
      resourceInfo(ports, ctx, identifier, client),
  },
});

/** A revocation ends the session or grant that the token belongs to. */
const isDocumentTenant = async (ports: Ports, ctx: Ctx): Promise<boolean> =>
  ctx.path === '/oauth2/revoke' || (await documentTenantOf(ports, ctx)) !== undefined;

async function resourceInfo(
  ports: Ports,
  ctx: Ctx,
  identifier: string,
  client: Ctx['oidc']['client'],
) {
  const asked = ctx.oidc.params?.['resource'];
  if (Array.isArray(asked) && asked.length > 1) {
    throw new errors.InvalidTarget('exactly one resource');
  }
  const of = {
    tenantId: await tenantFor(ports, ctx),
    scopes: scopesOf(client),
    machineScopes: machineScopesOf(client),
  };
  const found = await ports.resource(of, identifier);
  if (found === undefined) throw new errors.InvalidTarget('unknown resource');
  return {
    scope: found.scopes.join(' '),
    audience: identifier,
    accessTokenTTL: found.ttlSeconds,
    accessTokenFormat: 'jwt' as const,
    jwt: { sign: { alg: 'EdDSA' as const } },
  };
}

async function accountOf(ports: Ports, ctx: Ctx, id: string) {
  const found = await ports.account(await tenantFor(ports, ctx), id);
  if (found === undefined) return undefined;
  return {
    accountId: found.id,
    claims: async (_use: string, scope: string) => ({
      sub: found.id,
      ...(await found.claims(scope.split(' '))),
    }),
  };
}

/** The requested scopes by resource. */
function askedBy(ctx: Ctx): { readonly [resource: string]: readonly string[] } {
  const requested = [...ctx.oidc.requestParamScopes];
  const resources = Object.entries(ctx.oidc.resourceServers ?? {}).map(
    ([resource, { scopes }]) => [resource, requested.filter((scope) => scopes.has(scope))] as const,
  );
  return Object.fromEntries([['', [...ctx.oidc.requestParamOIDCScopes]], ...resources]);
}

async function existingGrant(ports: Ports, ctx: Ctx) {
  const { client, session, provider } = ctx.oidc;
  const asked = askedBy(ctx);
  const id = await ports.grantFor(ctx.req, {
    tenantId: await tenantFor(ports, ctx),
    userId: session?.accountId ?? '',
    clientId: client?.clientId ?? '',
    // The holder of a device is unknown, so the person is always asked.
    firstParty: client?.['first_party'] === true && !isAboutDevice(ctx),
    asked,
  });
  const grant = id === undefined ? undefined : await provider.Grant.find(id);
  // A person who was just asked has decided about everything. Scopes that they left out are not requested again.
  if (grant === undefined || ctx.oidc.result?.consent === undefined) return grant;
  for (const [resource, scopes] of Object.entries(asked)) {
    const had = resource === '' ? grant.getOIDCScope() : grant.getResourceScope(resource);
    const left = scopes.filter((scope) => !had.split(' ').includes(scope));
    if (left.length === 0) continue;
    if (resource === '') grant.rejectOIDCScope(left.join(' '));
    else grant.rejectResourceScope(resource, left.join(' '));
  }
  return grant;
}

/** OpenID Connect scopes that were granted for the code of this request, separated by spaces. */
export function grantedOpenid({ oidc }: Ctx): string {
  const { AuthorizationCode, DeviceCode, Grant: grant } = oidc.entities;
  const code = AuthorizationCode ?? DeviceCode;
  return grant?.getOIDCScopeFiltered(new Set(code?.scope?.split(' '))) ?? '';
}

type IssuedToken = {
  readonly accountId?: string;
  readonly clientId: string;
  readonly grantId?: string;
  readonly aud: string;
  scope?: string | undefined;
  readonly expiration: number;
  readonly jkt?: string;
};

async function issuedFor(ports: Ports, ctx: Ctx, token: IssuedToken): Promise<IssuedFor> {
  const { AuthorizationCode, DeviceCode } = ctx.oidc.entities;
  const code = (AuthorizationCode ?? DeviceCode) as
    | { authTime?: number; amr?: string[]; acr?: string }
    | undefined;
  return {
    userId: token.accountId,
    tenantId: await tenantFor(ports, ctx),
    clientId: token.clientId,
    grantId: token.grantId,
    resource: token.aud,
    scope: token.scope ?? '',
    openid: grantedOpenid(ctx),
    namesScope: typeof ctx.oidc.params?.['scope'] === 'string',
    clientNotBefore: Number(ctx.oidc.client?.['tokens_before'] ?? 0),
    ttlSeconds: token.expiration,
    authTime: code?.authTime ?? 0,
    amr: code?.amr ?? [],
    // The library carries one text from the sign-in's session to the code: `acr`.
    browserSid: code?.acr ?? '',
    thumbprint: token.jkt,
  };
}
