/** How the authorization server's library is set up, and what it is told when it asks. */
import { type Configuration, errors } from 'oidc-provider';
import { adapterOf } from './authorization-artifacts.ts';
import {
  type Ctx,
  documentTenantOf,
  type IssuedFor,
  type Ports,
  scopesOf,
  tenantFor,
} from './authorization-ports.ts';
import { ASSERTION_ALGORITHMS } from './client-assertion.ts';
import { loginPolicy } from './login-policy.ts';

const CONFIDENTIAL = ['client_secret_basic', 'client_secret_post', 'private_key_jwt'];
const CODE_SECONDS = 60;
const INTERACTION_SECONDS = 600;
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
      idTokenSigningAlgValues: ['EdDSA'],
      clientAuthSigningAlgValues: ASSERTION_ALGORITHMS,
    },
    clientDefaults: { id_token_signed_response_alg: 'EdDSA' },
    extraClientMetadata: { properties: ['tenant_id', 'first_party', 'allowed_scopes'] },
    pkce: { required: () => true },
    claims: {
      openid: ['sub', 'auth_time', 'amr'],
      profile: ['name', 'picture', 'updated_at'],
      email: ['email', 'email_verified'],
    },
    cookies: cookiesOf(ports),
    routes: {
      authorization: '/oauth2/authorize',
      token: '/oauth2/token',
      revocation: '/oauth2/revoke',
      pushed_authorization_request: '/oauth2/par',
      jwks: '/.well-known/jwks.json',
    },
    discovery: {
      introspection_endpoint: `${ports.issuer}/oauth2/introspect`,
      introspection_endpoint_auth_methods_supported: CONFIDENTIAL,
      introspection_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
      userinfo_endpoint: `${ports.issuer}/oauth2/userinfo`,
    },
    ttl: {
      AuthorizationCode: CODE_SECONDS,
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
          jwt.payload = await ports.accessClaims(ctx.req, await issuedFor(ports, ctx, token));
        },
      },
    },
    // Nothing but documents of clients is fetched.
    fetch: (url: string | URL) => ports.fetchDocument(String(url)),
    features: featuresOf(ports),
  };
  return configuration as unknown as Configuration;
}

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
  // No endpoint of ours asks for a proof of possession, so none is announced.
  dPoP: { enabled: false },
  userinfo: { enabled: false },
  introspection: { enabled: false },
  rpInitiatedLogout: { enabled: false },
  registration: { enabled: false },
  deviceFlow: { enabled: false },
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

/** Revoking ends what a token belongs to, whatever it was for. */
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
  const of = { tenantId: await tenantFor(ports, ctx), scopes: scopesOf(client) };
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

/** What of the request belongs to which resource. */
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
    firstParty: client?.['first_party'] === true,
    asked,
  });
  const grant = id === undefined ? undefined : await provider.Grant.find(id);
  // Whoever was asked just now has decided about everything: what they left out is not asked again.
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

type IssuedToken = {
  readonly accountId?: string;
  readonly clientId: string;
  readonly grantId?: string;
  readonly aud: string;
  readonly scope?: string;
  readonly expiration: number;
};

async function issuedFor(ports: Ports, ctx: Ctx, token: IssuedToken): Promise<IssuedFor> {
  const code = ctx.oidc.entities.AuthorizationCode as
    | { authTime?: number; amr?: string[]; acr?: string }
    | undefined;
  return {
    userId: token.accountId,
    tenantId: await tenantFor(ports, ctx),
    clientId: token.clientId,
    grantId: token.grantId,
    resource: token.aud,
    scope: token.scope ?? '',
    ttlSeconds: token.expiration,
    authTime: code?.authTime ?? 0,
    amr: code?.amr ?? [],
    // The library carries one text of the sign-in from its session to the code.
    browserSid: code?.acr ?? '',
  };
}
