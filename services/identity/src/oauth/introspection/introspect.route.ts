/** Tells resource servers whether a token is active and what it grants (RFC 7662). */
import { type Endpoint, endpoint } from '@cardea/http';
import { type Settings, storedId } from '@cardea/runtime';
import type { RateLimits } from '@cardea/service';
import Type from 'typebox';
import { tooOften } from '../../http/answers.ts';
import { LIMITS } from '../../http/limits.ts';
import type { RecordClientFailure } from '../client-failures/record-client-failure.ts';
import { callerOf } from './callers.ts';
import { INACTIVE, type Introspect } from './introspect.ts';

type Dependencies = Parameters<typeof callerOf>[0] & {
  readonly limits: RateLimits;
  readonly settings: Pick<Settings, 'INTROSPECT_REQUIRE_AUTH' | 'ISSUER'>;
  readonly introspect: Introspect;
  readonly recordClientFailure: RecordClientFailure;
};

const TOKEN_CHARACTERS_MAX = 8_192;
const ASSERTION_CHARACTERS_MAX = 8_192;
const CHALLENGE = { 'WWW-Authenticate': 'Basic realm="introspection"' };

const Active = Type.Object({ active: Type.Boolean() }, { additionalProperties: true });

export const introspectRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      name: 'introspect_token',
      repeat: 'safe',
      summary: 'What a token is worth now',
      description:
        'Tells whether a token is valid now, and what it says (RFC 7662). Whatever is not valid is `{"active": false}` with 200. Holding the token is proof enough, unless the deployment sets `INTROSPECT_REQUIRE_AUTH`; a credential that is sent must be right. An address may ask 6,000 times a minute, and get 300 inactive answers a minute.',
      tag: 'OAuth',
      method: 'post',
      path: '/oauth2/introspect',
      who: 'anyone',
      tenant: 'none',
      response: { errors: 'oauth', isSecret: true },
      input: { takesForm: true },
      body: Type.Object(
        {
          token: Type.String({ minLength: 1, maxLength: TOKEN_CHARACTERS_MAX }),
          token_type_hint: Type.Optional(Type.String({ maxLength: 128 })),
          client_id: Type.Optional(Type.String({ maxLength: 128 })),
          client_secret: Type.Optional(Type.String({ maxLength: 128 })),
          client_assertion: Type.Optional(Type.String({ maxLength: ASSERTION_CHARACTERS_MAX })),
          client_assertion_type: Type.Optional(Type.String({ maxLength: 128 })),
        },
        // RFC 7662 allows further parameters, so parameters meant for other servers are accepted and ignored.
        { additionalProperties: true },
      ),
      ok: Active,
      refusals: { invalid_client: 401, insufficient_scope: 403, rate_limited: 429 },
    },
    async (request) => {
      const { body, headers, ip } = request;
      const caller = await callerOf(needs, { ...body, authorization: headers['authorization'] });
      if ('refused' in caller) {
        const { refused, named } = caller;
        if (named !== undefined) await needs.recordClientFailure(request, named);
        return { refused, headers: CHALLENGE };
      }
      if (caller.by === 'nobody' && needs.settings.INTROSPECT_REQUIRE_AUTH) {
        return { refused: 'invalid_client', headers: CHALLENGE };
      }
      if (caller.by === 'tenant') {
        const taken = await needs.limits.take([LIMITS.introspectionsByCaller, caller.id]);
        if (!taken.allowed) return tooOften(taken);
      }
      const introspect = async () => {
        const found = await needs.introspect(body.token, caller.by === 'service');
        const tenantId = found.active ? found.tid : undefined;
        const header = headers['x-service-tenant'];
        const isForeign =
          (caller.by === 'tenant' && caller.tenantId !== tenantId) ||
          (header !== undefined && storedId(header) !== tenantId);
        return { ok: found.active && !isForeign ? found : INACTIVE };
      };
      if (caller.by !== 'nobody') return await introspect();
      const taken = await needs.limits.take([LIMITS.introspectionsByIp, ip]);
      if (!taken.allowed) return tooOften(taken);
      const misses = [[LIMITS.inactiveIntrospectionsByIp, ip]] as const;
      const tried = await needs.limits.attempt(misses, introspect, ({ ok }) => ok !== INACTIVE);
      return tried.allowed ? tried.answer : tooOften(tried);
    },
  );
