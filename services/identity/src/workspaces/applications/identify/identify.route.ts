/** Returns what a client may show before anybody has signed in, found by its publishable key. */
import { named } from '@cardea/contracts';
import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { closed, tooOften } from '../../../http/answers.ts';
import { LIMITS } from '../../../http/limits.ts';
import { shownBranding } from '../../tenants/settings-shape.ts';
import { type SocialProvider, socialClient } from '../../tenants/social-settings.ts';
import type { Workspaces } from '../../workspaces.ts';
import { applicationOfKey } from '../publishable-key.ts';

type Dependencies = Pick<ServiceDependencies, 'clock' | 'database' | 'limits'> & {
  readonly workspaces: Pick<Workspaces, 'tenant'>;
};

/** Sign-in methods of this release, besides providers. A tenant may have allowed others in advance. */
const METHODS_BUILT: ReadonlySet<string> = new Set(['password', 'passkeys', 'magic_link', 'otp']);

export const identifyRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      name: 'identify_application',
      repeat: 'safe',
      summary: 'Identify an application by its publishable key',
      description:
        'Names tenant, look and ways to sign in for a publishable key, so that a client can show a sign-in page. An address may call it 300 times a minute.',
      tag: 'Authentication',
      method: 'post',
      path: '/api/v1/auth/identify',
      who: 'anyone',
      tenant: 'none',
      body: closed({ publishable_key: Type.String() }),
      ok: closed({
        tenant_id: Type.String(),
        tenant_slug: Type.String(),
        display_name: Type.String(),
        environment: Type.String(),
        branding: Type.Object({}, { additionalProperties: true }),
        auth_methods: named(
          'AuthMethods',
          closed({
            password: Type.Boolean(),
            passkeys: Type.Boolean(),
            google: Type.Boolean(),
            github: Type.Boolean(),
            microsoft: Type.Boolean(),
            magic_link: Type.Boolean(),
            otp: Type.Boolean(),
            mfa_policy: Type.String(),
          }),
        ),
      }),
      refusals: { invalid_publishable_key: 401, rate_limited: 429 },
      consistency: { reads: ['workspaces'] },
    },
    async (request) => {
      const byIp = await needs.limits.take([LIMITS.identifyByIp, request.ip]);
      if (!byIp.allowed) return tooOften(byIp);
      const application = await applicationOfKey(needs, request.body.publishable_key);
      const tenant = application && (await needs.workspaces.tenant(application.tenant_id));
      if (application === undefined || tenant === undefined) {
        return { refused: 'invalid_publishable_key' };
      }
      const allowed = new Set(tenant.settings.auth_methods);
      const offers = (method: string) => allowed.has(method) && METHODS_BUILT.has(method);
      const isSetUp = (provider: SocialProvider) => socialClient(tenant, provider) !== undefined;
      return {
        ofTenant: tenant.id,
        ok: {
          tenant_id: tenant.id,
          tenant_slug: tenant.slug,
          display_name: tenant.displayName,
          environment: application.environment,
          branding: shownBranding({ ...tenant.settings.branding, ...application.branding }),
          auth_methods: {
            password: offers('password'),
            passkeys: offers('passkeys'),
            google: isSetUp('google'),
            github: isSetUp('github'),
            microsoft: isSetUp('microsoft'),
            magic_link: offers('magic_link'),
            otp: offers('otp'),
            mfa_policy: tenant.settings.mfa_policy,
          },
        },
      };
    },
  );
