import { given } from '@cardea/testing';
import { describe, it } from 'vitest';
import { type TenantEvent, tenants } from '../tenant.ts';
import { closeTenant, deleteTenant } from './delete.ts';

const created = (home: string): TenantEvent => ({
  type: 'TenantCreated',
  data: {
    ...{ id: 't2', organization_id: 'o1', home_tenant_id: home, name: 'Acme', slug: 'acme' },
    ...{ display_name: 'Acme', environment: 'development' },
    created_at: '2026-01-01T00:00:00.000Z',
  },
});
const closed: TenantEvent = {
  type: 'TenantClosed',
  data: {
    ...{ id: 't2', closed_at: '2026-02-01T00:00:00.000Z' },
    shred_at: '2026-03-03T00:00:00.000Z',
  },
};
const deleted: TenantEvent = {
  type: 'TenantDeleted',
  data: { id: 't2', deleted_at: '2026-03-03T00:00:00.000Z' },
};
const now = new Date('2026-02-01T00:00:00Z');
const later = new Date('2026-03-03T00:00:00Z');

describe('a tenant', () => {
  it('is closed at once, and deleted after thirty days', () => {
    given(tenants, created('t1'))
      .when((tenant) => closeTenant(now, tenant))
      .accepts(closed);
    given(tenants, created('t1'), closed)
      .when((tenant) => deleteTenant(new Date(later.getTime() - 1), tenant))
      .accepts();
    given(tenants, created('t1'), closed)
      .when((tenant) => deleteTenant(later, tenant))
      .accepts(deleted);
    given(tenants, created('t1'), closed, deleted)
      .when((tenant) => deleteTenant(later, tenant))
      .accepts();
  });

  it('is not closed twice, and not where its organization began', () => {
    given(tenants, created('t1'), closed)
      .when((tenant) => closeTenant(later, tenant))
      .refuses('not_found');
    given(tenants, created('t2'))
      .when((tenant) => closeTenant(now, tenant))
      .refuses('home_tenant');
    given(tenants, created('t1'))
      .when((tenant) => deleteTenant(later, tenant))
      .accepts();
  });
});
