/**
 * An owner closes a tenant: from then on nobody can sign in, and none of its tokens and keys is accepted. It is deleted
 * with all of its data 30 days later. The organization's first tenant cannot be closed.
 */
import { accept, type Decision, refuse } from '@cardea/event-store';
import type { Tenant, TenantEvent } from '../tenant.ts';

const SHREDDED_AFTER_MS = 30 * 24 * 3600_000;
/** The interval between two searches for closed tenants that are due. */
export const DELETED_WITHIN_MS = 3_600_000;

/** When the slug of a closed tenant becomes available again, which is after its deletion. */
export const slugFreeAt = (shredAt: string): string =>
  new Date(new Date(shredAt).getTime() + DELETED_WITHIN_MS).toISOString();

export function closeTenant(
  now: Date,
  tenant: Tenant,
): Decision<TenantEvent, 'not_found' | 'home_tenant'> {
  if (tenant.status !== 'active') return refuse('not_found');
  if (tenant.id === tenant.homeTenantId) return refuse('home_tenant');
  const shred_at = new Date(now.getTime() + SHREDDED_AFTER_MS).toISOString();
  return accept({
    type: 'TenantClosed',
    data: { id: tenant.id, closed_at: now.toISOString(), shred_at },
  });
}

/** Decides nothing if it is too early or the tenant is deleted already. */
export function deleteTenant(now: Date, tenant: Tenant): Decision<TenantEvent, never> {
  if (tenant.status !== 'closed' || now < new Date(tenant.shredAt)) return accept();
  return accept({ type: 'TenantDeleted', data: { id: tenant.id, deleted_at: now.toISOString() } });
}
