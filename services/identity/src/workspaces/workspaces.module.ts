/** Organizations, tenants and applications. */

import type { Module, ServiceDependencies } from '@cardea/service';
import type { SnapshotCache } from '../streams/snapshot-cache.ts';
import {
  createApplicationRoute,
  deleteApplicationRoute,
  getApplicationRoute,
  updateApplicationRoute,
} from './applications/administer/administer.route.ts';
import {
  rotateClientSecretRoute,
  rotatePublishableKeyRoute,
} from './applications/administer/rotate.route.ts';
import { applications } from './applications/application.ts';
import { identifyRoute } from './applications/identify/identify.route.ts';
import { listApplicationsRoute } from './applications/list-applications/list-applications.route.ts';
import { listMachineScopesRoute } from './applications/list-scopes/list-scopes.route.ts';
import { originsOfTenants } from './applications/origins/origins-of-tenants.ts';
import { tellChangedOrigins } from './applications/origins/tell-changed-origins.policy.ts';
import {
  getOrganizationRoute,
  updateOrganizationRoute,
} from './organizations/administer/organization.route.ts';
import { organizations } from './organizations/organization.ts';
import { getTenantRoute, updateTenantRoute } from './tenants/administer/administer.route.ts';
import { deleteTenantRoute } from './tenants/delete/delete.route.ts';
import { deleteClosedTenants } from './tenants/delete/delete-closed-tenants.ts';
import { shredDeletedTenants } from './tenants/delete/shred-deleted-tenants.policy.ts';
import { listTenantsRoute } from './tenants/list/list.route.ts';
import { tenants } from './tenants/tenant.ts';
import { workspacesProjection } from './tenants/workspaces.projection.ts';
import { type Workspaces, workspaces } from './workspaces.ts';
import { workspacesRelay } from './workspaces-relay.ts';

export {
  type ApplicationEvent,
  applications,
  type ExistingApplication,
  GRANT_TYPES,
} from './applications/application.ts';
export {
  type ApplicationClaim,
  type ClaimUse,
  METADATA_SOURCE,
  OVERAGE,
} from './applications/application-claims.ts';
export { applicationHomes, homeOf } from './applications/application-homes.ts';
export { machineCallersByStream } from './applications/machine-callers.ts';
export { isMachineScopeIn } from './applications/machine-power.ts';
export { ANY_ADDRESS, isOfOrigins } from './applications/private-origins.ts';
export { tenantOfPublishableKey } from './applications/publishable-key.ts';
export { checkRedirectUri, isOwnerUnknown } from './applications/redirect-uri.ts';
export { createTenantRoute, type InviteAdministrator } from './tenants/create/create.route.ts';
export { forgetTenantIn, forgetUserAndTenantIn } from './tenants/forget-tenant.ts';
export { clientSettings } from './tenants/settings-shape.ts';
export {
  SOCIAL_PROVIDERS,
  type SocialClient,
  type SocialProvider,
  secretName,
  socialClient,
} from './tenants/social-settings.ts';
export {
  isUniform,
  type OtpFormat,
  type PasswordPolicy,
  type RefreshMode,
  TENANT_DEFAULTS,
  type Tenant,
  type TenantClosed,
  type TenantDeleted,
  type TenantFacts,
  type TenantSettings,
  tenants,
} from './tenants/tenant.ts';
export {
  companyName,
  DEPLOYMENT,
  type NewWorkspace,
  TENANT_APPENDS,
  type Workspaces,
} from './workspaces.ts';

type Dependencies = Pick<
  ServiceDependencies,
  | 'cache'
  | 'clock'
  | 'command'
  | 'database'
  | 'ids'
  | 'limits'
  | 'positions'
  | 'settings'
  | 'random'
  | 'sealer'
  | 'streams'
  | 'systemCommand'
> & {
  readonly snapshots: SnapshotCache;
};

export function workspacesModule(given: Dependencies): {
  readonly module: Module;
  readonly workspaces: Workspaces;
} {
  const needs = { ...given, workspaces: workspaces(given) };
  const module: Module = {
    endpoints: [
      identifyRoute(needs),
      listApplicationsRoute(needs),
      listMachineScopesRoute(),
      createApplicationRoute(needs),
      getApplicationRoute(needs),
      updateApplicationRoute(needs),
      deleteApplicationRoute(needs),
      rotatePublishableKeyRoute(needs),
      rotateClientSecretRoute(needs),
      getOrganizationRoute(needs),
      updateOrganizationRoute(needs),
      getTenantRoute(needs),
      updateTenantRoute(needs),
      listTenantsRoute(needs),
      deleteTenantRoute(needs),
    ],
    projections: [workspacesProjection],
    policies: [shredDeletedTenants(needs), tellChangedOrigins(needs)],
    loops: [deleteClosedTenants(needs)],
    relay: workspacesRelay,
    offers: { identity: { origins: originsOfTenants(needs) } },
  };
  return { module, workspaces: needs.workspaces };
}

export const workspacesStreams = [organizations, tenants, applications];
