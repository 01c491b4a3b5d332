/**
 * Returns an application the claims of its user, within the scopes of its token (OpenID Connect Core 5.3). Only tokens
 * of applications are accepted, since the token of a direct login involves no consent to an application.
 */
import { hash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { boundKeyOf, type DpopProofs } from '@cardea/auth';
import { type Endpoint, endpoint, possessionChallenge, type Request } from '@cardea/http';
import type { Settings } from '@cardea/runtime';
import type { RateLimits } from '@cardea/service';
import Type from 'typebox';
import { type ExistingUser, exists, type UserDirectory } from '../../accounts/accounts.module.ts';
import { countingRefusals } from '../../http/counting-refusals.ts';
import { LIMITS } from '../../http/limits.ts';
import type { SignForClient } from '../../signing-keys/signing-keys.module.ts';
import type { LiveToken } from '../introspection/live-tokens.ts';
import type { OAuthClients } from '../server/clients.ts';
import type { UserConsents } from '../server/user-consents.ts';
import type { ApplicationClaims } from './application-claims.ts';
import { userClaims } from './user-claims.ts';

type Dependencies = {
  readonly limits: RateLimits;
  readonly dpop: Pick<DpopProofs, 'isProven'>;
  readonly liveToken: LiveToken;
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'open'>;
  readonly settings: Pick<Settings, 'ISSUER'>;
  readonly clients: Pick<OAuthClients, 'find'>;
  readonly userConsents: Pick<UserConsents, 'active'>;
  readonly applicationClaims: ApplicationClaims;
  readonly signForClient: SignForClient;
};

const COMMON = {
  tag: 'OAuth',
  path: '/oauth2/userinfo',
  who: 'anyone',
  tenant: 'none',
  response: { errors: 'oauth', isSecret: true, origins: 'allowed' },
  refusals: { invalid_token: 401, insufficient_scope: 403, rate_limited: 429 },
} as const;

const UserInfo = Type.Object(
  {
    sub: Type.String(),
    tid: Type.String(),
    name: Type.Optional(Type.String()),
    picture: Type.Optional(Type.String()),
    locale: Type.Optional(Type.String()),
    preferred_username: Type.Optional(Type.String()),
    updated_at: Type.Optional(Type.Integer()),
    email: Type.Optional(Type.String()),
    email_verified: Type.Optional(Type.Boolean()),
  },
  // Claims that the application defines.
  { additionalProperties: true },
);

export const userinfoRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'userinfo',
      summary: 'About the user of an application',
      description:
        'Answers the claims about the user that the scopes of the token allow. It takes only a token that an application has got from the authorization server.',
      method: 'get',
      ok: UserInfo,
    },
    (request) => answered(needs, request, request.isHead === true ? 'HEAD' : 'GET'),
  );

export const postUserinfoRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'post_userinfo',
      repeat: 'safe',
      summary: 'About the user of an application',
      description:
        'Answers the claims about the user that the scopes of the token allow, as GET does.',
      method: 'post',
      input: { isOptional: true, takesForm: true },
      body: Type.Object({}, { additionalProperties: true }),
      ok: UserInfo,
    },
    (request) => answered(needs, request, 'POST'),
  );

const CREDENTIAL = /^(Bearer|DPoP) +(\S+) *$/i;
const DPOP = 'dpop';

type Method = 'GET' | 'HEAD' | 'POST';

async function answered(
  needs: Dependencies,
  request: Request<object, object, unknown>,
  method: Method,
) {
  const misses = [[LIMITS.inactiveIntrospectionsByIp, request.ip]] as const;
  return await countingRefusals(needs.limits, misses, () => aboutUser(needs, request, method));
}

async function aboutUser(
  needs: Dependencies,
  { headers }: Request<object, object, unknown>,
  method: Method,
) {
  const [, scheme = '', token] = CREDENTIAL.exec(headers['authorization'] ?? '') ?? [];
  const live = token === undefined ? undefined : await needs.liveToken(token);
  if (live === undefined || live.tokenClass !== 'access') return INVALID;
  const { claims } = live;
  const thumbprint = boundKeyOf(claims);
  if (scheme.toLowerCase() !== DPOP) {
    if (thumbprint !== undefined) return unproven('invalid_token');
  } else {
    if (token === undefined || thumbprint === undefined) return unproven('invalid_token');
    const tokenDigest = hash('sha256', token, 'base64url');
    const proven = { method, path: COMMON.path, thumbprint, tokenDigest };
    if (!(await needs.dpop.isProven(headers[DPOP] ?? '', proven))) {
      return unproven('invalid_dpop_proof');
    }
  }
  const { sub, tid, aud } = claims;
  const audience = Array.isArray(aud) ? aud : [aud];
  const isOfApplication =
    typeof claims['client_id'] === 'string' &&
    claims['client_id'] !== sub &&
    claims['act'] === undefined &&
    audience.includes(`${needs.settings.ISSUER}/api`);
  if (!isOfApplication) return INVALID;
  const scopes = String(claims['scope'] ?? '').split(' ');
  if (!scopes.includes('openid')) return NO_SCOPE;
  const user = await needs.userDirectory.byId(tid, sub);
  if (!exists(user)) return INVALID;
  const opened = await needs.userDirectory.open(user);
  const clientId = String(claims['client_id']);
  const client = await needs.clients.find(clientId);
  const further = await ownClaims(needs, { tenantId: tid, client, user, scopes });
  const about = { ...further, sub, tid, ...userClaims(user, opened, scopes) };
  const alg = client?.application.userinfo_signed_response_alg ?? null;
  if (alg === null) return { ok: about, ofTenant: tid };
  const iss = needs.settings.ISSUER;
  const text = needs.signForClient(alg, 'JWT', { iss, aud: clientId, ...about });
  return signedAnswer(text, tid);
}

/** The consent is read only for applications that define claims, so the response for all others stays fast. */
async function ownClaims(
  { userConsents, applicationClaims }: Dependencies,
  {
    tenantId,
    client,
    user,
    scopes,
  }: {
    readonly tenantId: string;
    readonly client: Awaited<ReturnType<OAuthClients['find']>>;
    readonly user: ExistingUser;
    readonly scopes: readonly string[];
  },
) {
  if (client === undefined || client.application.claims.length === 0) return {};
  const of = { tenantId, userId: user.id, clientId: client.application.id };
  const consent = await userConsents.active(of);
  if (consent === undefined) return {};
  return applicationClaims({ use: 'userinfo', user, client, consent, scopes });
}

/** OpenID Connect Core 5.3.2: the claims as a signed JWT, for an application that registered a signing algorithm. */
const signedAnswer = (text: string, tenantId: string) => ({
  raw: (response: ServerResponse, _message: unknown, ofTenant: (tenantId: string) => void) => {
    ofTenant(tenantId);
    response.writeHead(200, {
      'Content-Type': 'application/jwt',
      'Content-Length': Buffer.byteLength(text),
    });
    response.end(text);
  },
});

const unproven = (error: 'invalid_token' | 'invalid_dpop_proof') =>
  ({
    refused: 'invalid_token',
    headers: { 'WWW-Authenticate': possessionChallenge(error) },
  }) as const;

const INVALID = {
  refused: 'invalid_token',
  headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
} as const;
const NO_SCOPE = {
  refused: 'insufficient_scope',
  headers: { 'WWW-Authenticate': 'Bearer error="insufficient_scope", scope="openid"' },
} as const;
