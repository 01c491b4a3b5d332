/** Maintains `organizations`, `tenants` and `applications`. */
import { orNull, projection, table } from '@cardea/read-models';
import type { ApplicationEvent } from '../applications/application.ts';
import type { OrganizationEvent } from '../organizations/organization.ts';
import { forgetTenantIn } from './forget-tenant.ts';
import type { TenantEvent } from './tenant.ts';

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

const tenants = table('tenants', {
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

const applications = table('applications', {
  key: ['id'],
  columns: {
    id: 'text',
    tenant_id: 'text',
    name: 'text',
    environment: 'text',
    type: 'text',
    publishable_key: 'text',
    created_at: 'timestamptz',
    deleted_at: orNull('timestamptz'),
    redirect_uris: 'text[]',
    post_logout_redirect_uris: 'text[]',
    backchannel_logout_uri: orNull('text'),
    backchannel_logout_session_required: 'boolean',
    allowed_origins: 'text[]',
    grant_types: 'text[]',
    scopes: 'text[]',
    first_party: 'boolean',
    require_par: 'boolean',
    require_pkce: 'boolean',
    id_token_signed_response_alg: 'text',
    userinfo_signed_response_alg: orNull('text'),
    dpop_bound_access_tokens: 'boolean',
    claims: 'jsonb',
    roles: 'text[]',
    machine_scopes: 'text[]',
    branding: 'jsonb',
    jwks: 'jsonb',
    previous_key: orNull('text'),
    previous_until: orNull('timestamptz'),
  },
});

export const workspacesProjection = projection<
  OrganizationEvent | TenantEvent | ApplicationEvent
>()({
  name: 'workspaces',
  log: 'identity',
  tables: [organizations, tenants, applications],
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
      return [tenants.put({ ...row, tenant_id: data.id, deleted_at: null, shred_at: null })];
    },
    TenantChanged: ({ data }) => {
      const { id, ...columns } = data;
      return [tenants.patch({ id }, columns)];
    },
    TenantClosed: ({ data: { id, closed_at, shred_at } }) => [
      tenants.patch({ id }, { deleted_at: closed_at, shred_at }),
    ],
    ApplicationCreated: ({ data, metadata }) => {
      const { secret_hash: _secret, request_hash: _request, ...row } = data;
      const none = { deleted_at: null, previous_key: null, previous_until: null };
      return [applications.put({ ...row, ...none, tenant_id: metadata.tenantId })];
    },
    ApplicationChanged: ({ data }) => {
      const { id, tokens_before: _before, ...columns } = data;
      return Object.keys(columns).length === 0 ? [] : [applications.patch({ id }, columns)];
    },
    PublishableKeyRotated: ({ data }) => {
      const { id, ...columns } = data;
      return [applications.patch({ id }, columns)];
    },
    ApplicationDeleted: ({ data }) => [
      applications.patch({ id: data.id }, { deleted_at: data.deleted_at }),
    ],
  },
  apply: forgetTenantIn('tenants', 'applications'),
});
