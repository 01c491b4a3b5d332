/** Functions and schemas that the owners' endpoints for tenants share. */
import { named, Time } from '@cardea/contracts';
import Type from 'typebox';
import { closed } from '../../http/answers.ts';
import type { Workspaces } from '../workspaces.ts';
import { settingsFields, shownSettings } from './settings-shape.ts';
import type { TenantFacts } from './tenant.ts';

export const TenantId = Type.Object({ id: Type.String({ minLength: 1, maxLength: 128 }) });
export const EnvironmentField = named(
  'Environment',
  Type.Enum(['development', 'staging', 'production']),
);

export const TenantShape = named(
  'Tenant',
  closed({
    id: Type.String(),
    organization_id: Type.String(),
    name: Type.String(),
    slug: Type.String(),
    display_name: Type.String(),
    environment: Type.String(),
    settings: named('TenantSettings', closed(settingsFields)),
    created_at: Time,
  }),
);

export const shownTenant = (tenant: TenantFacts) => ({
  id: tenant.id,
  organization_id: tenant.organizationId,
  name: tenant.name,
  slug: tenant.slug,
  display_name: tenant.displayName,
  environment: tenant.environment,
  settings: shownSettings(tenant),
  created_at: tenant.createdAt,
});

/** A tenant of another organization counts as unknown. */
export async function ownTenant(
  { workspaces }: { readonly workspaces: Pick<Workspaces, 'tenant'> },
  callersTenantId: string,
  id: string,
): Promise<TenantFacts | undefined> {
  const [own, asked] = await Promise.all([
    workspaces.tenant(callersTenantId),
    workspaces.tenant(id),
  ]);
  return own !== undefined && own.organizationId === asked?.organizationId ? asked : undefined;
}
