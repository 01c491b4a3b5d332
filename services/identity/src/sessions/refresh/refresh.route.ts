/** Exchanges a refresh token for its successor and a new access token. */
import { parseRefreshToken } from '@cardea/crypto';
import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { closed, PASSWORD_BODY_MAX_BYTES, tokenFields, tooOften } from '../../http/answers.ts';
import { LIMITS } from '../../http/limits.ts';
import type { LoginSessions } from '../login-sessions.ts';
import type { RefreshSession } from './refresh-session.ts';

type Dependencies = Pick<ServiceDependencies, 'limits'> & {
  readonly loginSessions: Pick<LoginSessions, 'tokensOf'>;
  readonly refreshSession: RefreshSession;
};

const Body = closed({ refresh_token: Type.String({ minLength: 1 }) });
export const refreshRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      name: 'refresh',
      clientName: 'refresh_tokens',
      retry: 'never',
      summary: 'Exchange a refresh token',
      tag: 'Authentication',
      method: 'post',
      path: '/api/v1/auth/refresh',
      who: 'anyone',
      tenant: 'optional',
      area: 'user',
      body: Body,
      ok: closed({ user_id: Type.String(), ...tokenFields, email_verified: Type.Boolean() }),
      refusals: { invalid_refresh_token: 401, refresh_token_rotated: 401, rate_limited: 429 },
      noStore: true,
      waitsFor: ['sessions'],
      recordsItsRefusals: true,
      bodyLimitBytes: PASSWORD_BODY_MAX_BYTES,
    },
    async (request) => {
      const byIp = await needs.limits.look(LIMITS.refreshFailuresByIp, request.ip);
      if (!byIp.allowed) return tooOften(byIp);
      const token = parseRefreshToken(request.body.refresh_token);
      const refreshed =
        token === undefined ? INVALID : await needs.refreshSession(request, token, LOGIN);
      if ('refused' in refreshed) {
        await needs.limits.take(LIMITS.refreshFailuresByIp, request.ip);
        return refreshed;
      }
      const { session, user, wrote } = refreshed;
      const tokens = await needs.loginSessions.tokensOf(session, refreshed);
      return { ok: { user_id: user.id, ...tokens, email_verified: user.emailVerified }, wrote };
    },
  );

const INVALID = { refused: 'invalid_refresh_token' } as const;
const LOGIN = { kind: 'login' } as const;
