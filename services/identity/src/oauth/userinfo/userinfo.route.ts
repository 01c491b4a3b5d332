/**
 * Tells an application about its user, within the scopes of its token (OpenID Connect Core 5.3). Only tokens
 * that an application got are taken: a login's own token says nothing of what its user let anybody know.
 */
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import type { Settings } from '@cardea/runtime';
import type { RateLimits } from '@cardea/service';
import Type from 'typebox';
import { exists, type UserDirectory } from '../../accounts/accounts.module.ts';
import { tooOften } from '../../http/answers.ts';
import { LIMITS } from '../../http/limits.ts';
import type { LiveToken } from '../introspection/live-tokens.ts';
import { userClaims } from './user-claims.ts';

type Dependencies = {
  readonly limits: RateLimits;
  readonly liveToken: LiveToken;
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'open'>;
  readonly settings: Pick<Settings, 'ISSUER'>;
};

const COMMON = {
  tag: 'OAuth',
  path: '/oauth2/userinfo',
  who: 'anyone',
  tenant: 'none',
  area: 'user',
  oauthErrors: true,
  refusals: { invalid_token: 401, insufficient_scope: 403, rate_limited: 429 },
  noStore: true,
  origins: 'allowed',
  recordsItsRefusals: true,
} as const;

const UserInfo = Type.Object(
  {
    sub: Type.String(),
    tid: Type.String(),
    name: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    picture: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    updated_at: Type.Optional(Type.Integer()),
    email: Type.Optional(Type.String()),
    email_verified: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);

export const userinfoRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'userinfo',
      clientName: 'get_userinfo',
      summary: 'About the user of an application',
      method: 'get',
      ok: UserInfo,
    },
    (request) => answered(needs, request),
  );

export const postUserinfoRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'post_userinfo',
      retry: 'safe',
      summary: 'About the user of an application',
      method: 'post',
      takesForm: true,
      body: Type.Object({}, { additionalProperties: true }),
      bodyOptional: true,
      ok: UserInfo,
    },
    (request) => answered(needs, request),
  );

const BEARER = /^Bearer +(\S+) *$/i;

async function answered(needs: Dependencies, request: Request<object, object, unknown>) {
  const { ip } = request;
  const room = await needs.limits.look(LIMITS.inactiveIntrospectionsByIp, ip);
  if (!room.allowed) return tooOften(room);
  const answer = await aboutUser(needs, request);
  if ('refused' in answer) await needs.limits.take(LIMITS.inactiveIntrospectionsByIp, ip);
  return answer;
}

async function aboutUser(needs: Dependencies, { headers }: Request<object, object, unknown>) {
  const token = BEARER.exec(headers['authorization'] ?? '')?.[1];
  const live = token === undefined ? undefined : await needs.liveToken(token);
  if (live === undefined || live.tokenClass !== 'access') return INVALID;
  const { claims } = live;
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
  return { ok: { sub, tid, ...userClaims(user, opened, scopes) }, ofTenant: tid };
}

const INVALID = {
  refused: 'invalid_token',
  headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
} as const;
const NO_SCOPE = {
  refused: 'insufficient_scope',
  headers: { 'WWW-Authenticate': 'Bearer error="insufficient_scope", scope="openid"' },
} as const;
