/** Publishes the facts about organizations, tenants and applications that other services receive. */
import { type identityEvents, printApproverSet } from '@cardea/contracts';
import { type RelayTools, relay } from '@cardea/event-bus';
import { type ApplicationEvent, applications } from './applications/application.ts';
import { type OrganizationEvent, organizations } from './organizations/organization.ts';
import { type TenantEvent, type TenantSettings, tenants } from './tenants/tenant.ts';

export const workspacesRelay = relay<
  OrganizationEvent | TenantEvent | ApplicationEvent,
  typeof identityEvents
>({
  OrganizationCreated: async (_event, tools) => ({
    type: 'organization.created',
    data: await organizationOf(tools),
  }),
  OrganizationChanged: async ({ data }, tools) => ({
    type: 'organization.updated',
    data: {
      ...(await organizationOf(tools)),
      changed: changedIn(data),
    },
  }),
  TenantCreated: async (_event, tools) => ({ type: 'tenant.created', data: await tenantOf(tools) }),
  TenantChanged: async ({ data }, tools) => ({
    type: 'tenant.updated',
    data: { ...(await tenantOf(tools)), changed: changedIn(data) },
  }),
  TenantSettingsChanged: async ({ data }, tools) => ({
    type: 'tenant.updated',
    data: {
      ...(await tenantOf(tools)),
      changed: Object.keys(data.settings).map((name) => `settings.${name}`),
    },
  }),
  TenantSecretSet: async ({ data: { name } }, tools) => ({
    type: 'tenant.updated',
    data: { ...(await tenantOf(tools)), changed: [`settings.${name}.client_secret`] },
  }),
  TenantClosed: async (_event, tools) => ({
    type: 'tenant.updated',
    data: { ...(await tenantOf(tools)), changed: ['status'] },
  }),
  TenantDeleted: ({ data }) => ({
    type: 'tenant.deleted',
    data: { id: data.id, deleted_at: data.deleted_at },
  }),
  ApplicationCreated: async (_event, tools) => ({
    type: 'application.created',
    data: await applicationOf(tools),
  }),
  ApplicationChanged: async ({ data }, tools) => ({
    type: 'application.updated',
    data: { ...(await applicationOf(tools)), changed: changedIn(data) },
  }),
  PublishableKeyRotated: ({ data }) => ({
    type: 'application.rotated',
    data: { id: data.id, what: 'publishable_key' },
  }),
  ClientSecretRotated: ({ data }) => ({
    type: 'application.rotated',
    data: { id: data.id, what: 'client_secret' },
  }),
  ApplicationDeleted: ({ data }) => ({
    type: 'application.deleted',
    data: { id: data.id, deleted_at: data.deleted_at },
  }),
});

async function organizationOf(tools: RelayTools) {
  const state = await tools.stateOf(organizations);
  if (state.status === 'none') throw new Error('an organization event without an organization');
  return {
    id: state.id,
    name: state.name,
    audit_retention_days: state.auditRetentionDays,
    created_at: state.createdAt,
  };
}

async function tenantOf(tools: RelayTools) {
  const state = await tools.stateOf(tenants);
  if (state.status === 'none') throw new Error('a tenant event without a tenant');
  return {
    id: state.id,
    organization_id: state.organizationId,
    name: state.name,
    slug: state.slug,
    display_name: state.displayName,
    environment: state.environment,
    approval_channels: [...state.settings.approval_channels],
    language: state.settings.language,
    brand_color: state.settings.branding.primary_color,
    agent_access: accessOf(state.settings.agent_access),
    created_at: state.createdAt,
  };
}

const accessOf = (access: TenantSettings['agent_access']) =>
  access === null
    ? null
    : { approver: printApproverSet(access.approver), max_seconds: access.max_seconds };

async function applicationOf(tools: RelayTools) {
  const state = await tools.stateOf(applications);
  if (state.status === 'none') throw new Error('an application event without an application');
  const { id, name, environment, type, publishable_key, created_at } = state;
  return { id, name, environment, type, publishable_key, created_at };
}

const changedIn = (data: object): string[] =>
  Object.keys(data).filter((key) => key !== 'id' && key !== 'tokens_before');
