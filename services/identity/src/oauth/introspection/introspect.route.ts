/** Tells resource servers what a token is worth (RFC 7662). */
import { type Endpoint, endpoint } from '@cardea/http';
import type { Settings } from '@cardea/runtime';
import type { RateLimits } from '@cardea/service';
import Type from 'typebox';
import { LIMITS } from '../../http/limits.ts';
import { callerOf } from './callers.ts';
import { INACTIVE, type Introspect } from './introspect.ts';

type Dependencies = Parameters<typeof callerOf>[0] & {
  readonly limits: RateLimits;
  readonly settings: Pick<Settings, 'INTROSPECT_REQUIRE_AUTH'>;
  readonly introspect: Introspect;
};

const TOKEN_CHARACTERS_MAX = 8_192;
const CHALLENGE = { 'WWW-Authenticate': 'Basic realm="introspection"' };

const Active = Type.Object({ active: Type.Boolean() }, { additionalProperties: true });

export const introspectRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      name: 'introspect_token',
      retry: 'safe',
      summary: 'What a token is worth now',
      tag: 'OAuth',
      method: 'post',
      path: '/oauth2/introspect',
      who: 'anyone',
      tenant: 'none',
      area: 'user',
      oauthErrors: true,
      takesForm: true,
      body: Type.Object(
        {
          token: Type.String({ minLength: 1, maxLength: TOKEN_CHARACTERS_MAX }),
          token_type_hint: Type.Optional(Type.String({ maxLength: 128 })),
          client_id: Type.Optional(Type.String({ maxLength: 128 })),
          client_secret: Type.Optional(Type.String({ maxLength: 128 })),
        },
        // RFC 7662 lets deployments add parameters, so clients may send some of others'.
        { additionalProperties: true },
      ),
      ok: Active,
      refusals: { invalid_client: 401, insufficient_scope: 403, rate_limited: 429 },
      noStore: true,
      recordsItsRefusals: true,
    },
    async (request) => {
      const { body, headers, ip } = request;
      const { client_id, client_secret } = body;
      const caller = await callerOf(needs, {
        authorization: headers['authorization'],
        client_id,
        client_secret,
      });
      if ('refused' in caller) return { ...caller, headers: CHALLENGE };
      if (caller.by === 'nobody' && needs.settings.INTROSPECT_REQUIRE_AUTH) {
        return { refused: 'invalid_client', headers: CHALLENGE };
      }
      if (caller.by === 'tenant') {
        const taken = await needs.limits.take(LIMITS.introspectionsByCaller, caller.id);
        if (!taken.allowed) return tooMany(taken.retryAfterSeconds);
      }
      if (caller.by === 'nobody') {
        const inactive = await needs.limits.look(LIMITS.inactiveIntrospectionsByIp, ip);
        if (!inactive.allowed) return tooMany(inactive.retryAfterSeconds);
        const taken = await needs.limits.take(LIMITS.introspectionsByIp, ip);
        if (!taken.allowed) return tooMany(taken.retryAfterSeconds);
      }
      const found = await needs.introspect(body.token, caller.by === 'service');
      const tenantId = found.active ? found.tid : undefined;
      const header = headers['x-service-tenant'];
      const isForeign =
        (caller.by === 'tenant' && caller.tenantId !== tenantId) ||
        (header !== undefined && header !== tenantId);
      if (found.active && !isForeign) return { ok: found };
      if (caller.by === 'nobody') await needs.limits.take(LIMITS.inactiveIntrospectionsByIp, ip);
      return { ok: INACTIVE };
    },
  );

const tooMany = (retryAfterSeconds: number) =>
  ({
    refused: 'rate_limited',
    headers: { 'Retry-After': String(retryAfterSeconds) },
  }) as const;
