/** Exchanges a refresh token for its successor and a new access token. */
import { parseRefreshToken } from '@cardea/crypto';
import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { closed, PASSWORD_BODY_MAX_BYTES, tokenFields } from '../../http/answers.ts';
import { countingRefusals } from '../../http/counting-refusals.ts';
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
      repeat: 'never',
      summary: 'Exchange a refresh token',
      description:
        'Exchanges a refresh token for an access token and the next refresh token; each works once. A used one ends the session, unless it comes again within the leeway of the tenant, 10 seconds unless set. A session may refresh 300 times a minute.',
      tag: 'Authentication',
      method: 'post',
      path: '/api/v1/auth/refresh',
      who: 'anyone',
      tenant: 'optional',
      body: Body,
      ok: closed({ user_id: Type.String(), ...tokenFields, email_verified: Type.Boolean() }),
      refusals: { invalid_refresh_token: 401, refresh_token_rotated: 401, rate_limited: 429 },
      response: { isSecret: true },
      consistency: { waitsFor: ['sessions'] },
      input: { limitBytes: PASSWORD_BODY_MAX_BYTES },
    },
    async (request) => {
      const token = parseRefreshToken(request.body.refresh_token);
      const misses = [[LIMITS.refreshFailuresByIp, request.ip]] as const;
      const refreshed = await countingRefusals(needs.limits, misses, async () =>
        token === undefined ? INVALID : await needs.refreshSession(request, token, LOGIN),
      );
      if ('refused' in refreshed) return refreshed;
      const { session, user, wrote } = refreshed;
      const tokens = await needs.loginSessions.tokensOf(session, refreshed);
      return { ok: { user_id: user.id, ...tokens, email_verified: user.emailVerified }, wrote };
    },
  );

const INVALID = { refused: 'invalid_refresh_token' } as const;
const LOGIN = { kind: 'login' } as const;
