/** Redirects a browser to a provider, which authenticates the person. */
import type { DerivedKeys } from '@cardea/crypto';
import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import type { SocialProviders } from '../../../adapters/social-providers.ts';
import { closed, tooOften } from '../../../http/answers.ts';
import { LIMITS } from '../../../http/limits.ts';
import type { Workspaces } from '../../../workspaces/workspaces.module.ts';
import { SOCIAL_SIGN_IN_MS, socialCookies } from '../social-cookie.ts';
import {
  callbackUrl,
  ProviderParams,
  SOCIAL,
  socialProvider,
  UNAVAILABLE,
} from '../social-sign-in.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'clock' | 'limits' | 'random' | 'sealer' | 'settings'
> & {
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  readonly socialProviders: Pick<SocialProviders, 'authorizationUrl'>;
  readonly socialKeys: DerivedKeys;
};

const SECRET_BYTES = 32;
const REDIRECT_CHARACTERS_MAX = 2_048;

export const authorizeSocialRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...SOCIAL,
      name: 'authorize_social_sign_in',
      summary: 'Go to a provider to sign in',
      description:
        "Sends the browser to a provider to sign in, with a cookie for this sign-in. `redirect_uri` must be one of the tenant's list.",
      method: 'get',
      repeat: 'get_only',
      path: '/api/v1/auth/social/{provider}/authorize',
      tenant: 'none',
      params: ProviderParams,
      query: Type.Object({
        tenant_id: Type.String({ minLength: 1, maxLength: 128 }),
        redirect_uri: Type.Optional(Type.String({ maxLength: REDIRECT_CHARACTERS_MAX })),
        // Whether the page wants a code, which it exchanges for the session's tokens.
        exchange: Type.Optional(Type.Boolean()),
        interaction: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]{1,128}$' })),
      }),
      response: { status: 302, isSecret: true },
      ok: closed({}),
      refusals: {
        invalid_redirect_uri: 400,
        tenant_not_found: 404,
        provider_not_configured: 404,
        rate_limited: 429,
        provider_unavailable: 503,
      },
    },
    async ({ params: { provider }, query, headers, ip }) => {
      const byIp = await needs.limits.take([LIMITS.socialSignInsByIp, ip]);
      if (!byIp.allowed) return tooOften(byIp);
      const tenant = await needs.workspaces.tenant(query.tenant_id);
      if (tenant === undefined) return { refused: 'tenant_not_found' };
      const configured = await socialProvider(needs, tenant, provider);
      if (configured === undefined) return { refused: 'provider_not_configured' };
      const { redirect_uri: redirectUri = null, exchange = false, interaction } = query;
      const { allowed_redirect_uris: allowed } = tenant.settings;
      if (redirectUri !== null && !allowed.includes(redirectUri)) {
        const details = { field: 'redirect_uri', rule: 'not_registered' };
        return { refused: 'invalid_redirect_uri', details };
      }
      const draw = () => needs.random.bytes(SECRET_BYTES).toString('base64url');
      const checks = { state: draw(), nonce: draw(), verifier: draw() };
      const back = callbackUrl(needs.settings, provider);
      const url = await needs.socialProviders.authorizationUrl(configured, checks, back);
      if (url === undefined) return UNAVAILABLE;
      const now = needs.clock.now();
      const expiresAt = now.getTime() + SOCIAL_SIGN_IN_MS;
      const pending = {
        ...checks,
        tenantId: tenant.id,
        provider,
        redirectUri,
        exchange,
        expiresAt,
        ...(interaction === undefined ? {} : { interaction }),
      };
      const sent = { header: headers['cookie'], keys: needs.socialKeys, now };
      return {
        ok: {},
        headers: { Location: url.href, 'Set-Cookie': socialCookies(pending, sent) },
      };
    },
  );
