/** Maintains `organizations`, `tenants` and `applications`. */
import type { MachineScope } from '@cardea/contracts';
import { jsonOf, orNull, projection, table, textOf, textsOf } from '@cardea/read-models';
import type { ClientAlgorithm } from '../../adapters/client-algorithms.ts';
import type {
  ApplicationEvent,
  ApplicationType,
  ClientJwk,
  GrantType,
} from '../applications/application.ts';
import type { ApplicationClaim } from '../applications/application-claims.ts';
import type { OrganizationEvent } from '../organizations/organization.ts';
import { forgetTenantIn } from './forget-tenant.ts';
import type { Branding, TenantEvent } from './tenant.ts';

const AUDIT_RETENTION_DAYS_DEFAULT = 90;

const organizations = table('organizations', {
  key: ['id'],
  columns: {
    id: 'text',
    tenant_id: 'text',
    name: 'text',
    audit_retention_days: 'integer',
    created_at: 'timestamptz',
  },
});

export const tenantRows = table('tenants', {
  key: ['id'],
  columns: {
    id: 'text',
    tenant_id: 'text',
    organization_id: 'text',
    name: 'text',
    slug: 'text',
    display_name: 'text',
    environment: 'text',
    created_at: 'timestamptz',
    deleted_at: orNull('timestamptz'),
    shred_at: orNull('timestamptz'),
  },
});

export const applicationRows = table('applications', {
  key: ['id'],
  columns: {
    id: 'text',
    tenant_id: 'text',
    name: 'text',
    environment: 'text',
    type: textOf<ApplicationType>(),
    publishable_key: 'text',
    created_at: 'timestamptz',
    deleted_at: orNull('timestamptz'),
    redirect_uris: 'text[]',
    post_logout_redirect_uris: 'text[]',
    backchannel_logout_uri: orNull('text'),
    backchannel_logout_session_required: 'boolean',
    allowed_origins: 'text[]',
    grant_types: textsOf<GrantType>(),
    scopes: 'text[]',
    first_party: 'boolean',
    require_par: 'boolean',
    require_pkce: 'boolean',
    id_token_signed_response_alg: textOf<ClientAlgorithm>(),
    userinfo_signed_response_alg: orNull(textOf<ClientAlgorithm>()),
    dpop_bound_access_tokens: 'boolean',
    claims: jsonOf<readonly ApplicationClaim[]>(),
    roles: 'text[]',
    machine_scopes: textsOf<MachineScope>(),
    branding: jsonOf<Partial<Branding>>(),
    jwks: jsonOf<readonly ClientJwk[]>(),
    previous_key: orNull('text'),
    previous_until: orNull('timestamptz'),
  },
});

export const workspacesProjection = projection<
  OrganizationEvent | TenantEvent | ApplicationEvent
>()({
  name: 'workspaces',
  log: 'identity',
  tables: [organizations, tenantRows, applicationRows],
  on: {
    OrganizationCreated: ({ data, metadata }) => [
      organizations.put({
        ...data,
        tenant_id: metadata.tenantId,
        audit_retention_days: AUDIT_RETENTION_DAYS_DEFAULT,
      }),
    ],
    OrganizationChanged: ({ data }) => {
      const { id, ...columns } = data;
      return [organizations.patch({ id }, columns)];
    },
    TenantCreated: ({ data }) => {
      const { home_tenant_id: _home, request_hash: _request, ...row } = data;
      return [tenantRows.put({ ...row, tenant_id: data.id, deleted_at: null, shred_at: null })];
    },
    TenantChanged: ({ data }) => {
      const { id, ...columns } = data;
      return [tenantRows.patch({ id }, columns)];
    },
    TenantClosed: ({ data: { id, closed_at, shred_at } }) => [
      tenantRows.patch({ id }, { deleted_at: closed_at, shred_at }),
    ],
    ApplicationCreated: ({ data, metadata }) => {
      const { secret_hash: _secret, request_hash: _request, ...row } = data;
      const none = { deleted_at: null, previous_key: null, previous_until: null };
      return [applicationRows.put({ ...row, ...none, tenant_id: metadata.tenantId })];
    },
    ApplicationChanged: ({ data }) => {
      const { id, tokens_before: _before, ...columns } = data;
      return Object.keys(columns).length === 0 ? [] : [applicationRows.patch({ id }, columns)];
    },
    PublishableKeyRotated: ({ data }) => {
      const { id, ...columns } = data;
      return [applicationRows.patch({ id }, columns)];
    },
    ApplicationDeleted: ({ data }) => [
      applicationRows.patch({ id: data.id }, { deleted_at: data.deleted_at }),
    ],
  },
  apply: forgetTenantIn('tenants', 'applications'),
});
