/**
 * An owner closes a tenant: nobody signs in from then on, and no token or key of it is taken. It is deleted
 * with all that it holds 30 days later. The tenant that the organization was founded with stays.
 */
import { accept, type Decision, refuse } from '@cardea/event-store';
import type { Tenant, TenantEvent } from '../tenant.ts';

const SHREDDED_AFTER_MS = 30 * 24 * 3600_000;
/** Closed tenants whose time has come are looked for this often. */
export const DELETED_WITHIN_MS = 3_600_000;

/** When the slug of a closed tenant can be used again: it is released with the deletion. */
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

/** Decides nothing where it is too early or done already. */
export function deleteTenant(now: Date, tenant: Tenant): Decision<TenantEvent, never> {
  if (tenant.status !== 'closed' || now < new Date(tenant.shredAt)) return accept();
  return accept({ type: 'TenantDeleted', data: { id: tenant.id, deleted_at: now.toISOString() } });
}
