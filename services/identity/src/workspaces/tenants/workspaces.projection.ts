/** Keeps `organizations`, `tenants` and `applications`. */
import { type Projected, type Projection, patch, put } from '@cardea/read-models';
import type { ApplicationEvent } from '../applications/application.ts';
import type { OrganizationEvent } from '../organizations/organization.ts';
import type { TenantEvent } from './tenant.ts';

type Data<E extends { type: string; data: object }, T extends E['type']> = Projected<
  Extract<E, { type: T }>['data']
>;

const AUDIT_RETENTION_DAYS_DEFAULT = 90;

export const workspacesProjection: Projection = {
  name: 'workspaces',
  log: 'identity',
  tables: [
    {
      name: 'organizations',
      key: ['id'],
      columns: {
        id: 'text',
        tenant_id: 'text',
        name: 'text',
        audit_retention_days: 'integer',
        created_at: 'timestamptz',
      },
    },
    {
      name: 'tenants',
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
        deleted_at: 'timestamptz',
      },
    },
    {
      name: 'applications',
      key: ['id'],
      columns: {
        id: 'text',
        tenant_id: 'text',
        name: 'text',
        environment: 'text',
        type: 'text',
        publishable_key: 'text',
        created_at: 'timestamptz',
        deleted_at: 'timestamptz',
      },
    },
  ],
  on: {
    OrganizationCreated: ({ data, metadata }: Data<OrganizationEvent, 'OrganizationCreated'>) => [
      {
        table: 'organizations',
        change: put({
          ...data,
          tenant_id: metadata.tenantId,
          audit_retention_days: AUDIT_RETENTION_DAYS_DEFAULT,
        }),
      },
    ],
    OrganizationChanged: ({ data }: Data<OrganizationEvent, 'OrganizationChanged'>) => {
      const { id, ...columns } = data;
      return [{ table: 'organizations', change: patch({ id }, columns) }];
    },
    TenantCreated: ({ data }: Data<TenantEvent, 'TenantCreated'>) => {
      const { home_tenant_id: _home, ...row } = data;
      return [{ table: 'tenants', change: put({ ...row, tenant_id: data.id, deleted_at: null }) }];
    },
    TenantChanged: ({ data }: Data<TenantEvent, 'TenantChanged'>) => {
      const { id, ...columns } = data;
      return [{ table: 'tenants', change: patch({ id }, columns) }];
    },
    TenantDeleted: ({ data: { id, deleted_at } }: Data<TenantEvent, 'TenantDeleted'>) => [
      { table: 'tenants', change: patch({ id }, { deleted_at }) },
    ],
    ApplicationCreated: ({ data, metadata }: Data<ApplicationEvent, 'ApplicationCreated'>) => [
      {
        table: 'applications',
        change: put({ ...data, tenant_id: metadata.tenantId, deleted_at: null }),
      },
    ],
    ApplicationDeleted: ({ data }: Data<ApplicationEvent, 'ApplicationDeleted'>) => [
      {
        table: 'applications',
        change: patch({ id: data.id }, { deleted_at: data.deleted_at }),
      },
    ],
  },
};
