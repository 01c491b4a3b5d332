/** Parts that the endpoints of a sign-in by a provider share. */
import { named } from '@cardea/contracts';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import type { Provider } from '../../adapters/social-providers.ts';
import { tenantField } from '../../streams/encrypted-fields.ts';
import {
  SOCIAL_PROVIDERS,
  type SocialProvider,
  secretName,
  socialClient,
  type TenantFacts,
} from '../../workspaces/workspaces.module.ts';

export const SOCIAL = {
  tag: 'Authentication',
  who: 'anyone',
  response: { isSecret: true },
} as const;

export const ProviderParams = Type.Object({
  provider: named('SocialProvider', Type.Enum([...SOCIAL_PROVIDERS])),
});

const RETRY_AFTER_S = 5;
export const UNAVAILABLE = {
  refused: 'provider_unavailable',
  headers: { 'Retry-After': String(RETRY_AFTER_S) },
} as const;

export const callbackUrl = (
  { PUBLIC_URL }: Pick<ServiceDependencies['settings'], 'PUBLIC_URL'>,
  provider: SocialProvider,
): string => `${PUBLIC_URL}/api/v1/auth/social/${provider}/callback`;

/** Returns undefined unless the tenant has configured the provider and allows signing in by it. */
export async function socialProvider(
  { sealer, settings }: Pick<ServiceDependencies, 'sealer' | 'settings'>,
  tenant: TenantFacts,
  provider: SocialProvider,
): Promise<Provider | undefined> {
  const configured = socialClient(tenant, provider);
  if (configured === undefined) return undefined;
  const { client, secret } = configured;
  const clientSecret = await sealer.open(secret, tenantField(tenant.id, secretName(provider)));
  if (clientSecret === null) return undefined;
  return {
    provider,
    clientId: client.client_id,
    clientSecret,
    // An endpoint that was configured in development is not the provider's, so other environments ignore it.
    endpoint: settings.ENV === 'development' ? client.endpoint : null,
    directories: client.tenants ?? [],
  };
}
