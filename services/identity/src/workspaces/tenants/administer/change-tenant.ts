/** An owner changes a tenant's settings; those not named stay, and an equal value is no change. */
import { accept, type Decision, refuse } from '@cardea/event-store';
import type { Tenant, TenantEvent, TenantSettings, TenantSettingsChange } from '../tenant.ts';

const CHANGEABLE = ['password_policy', 'registration'] as const;
type Changeable = (typeof CHANGEABLE)[number];

export type ChangeTenant = Pick<TenantSettingsChange, Changeable>;

export function changeTenant(
  change: ChangeTenant,
  tenant: Tenant,
): Decision<TenantEvent, 'not_found'> {
  if (tenant.status !== 'active') return refuse('not_found');
  const changed = CHANGEABLE.filter((name) => !isSame(tenant.settings, change, name));
  if (changed.length === 0) return accept();
  const settings = Object.fromEntries(
    changed.map((name) => [name, { ...tenant.settings[name], ...change[name] }]),
  );
  return accept({ type: 'TenantSettingsChanged', data: { id: tenant.id, settings } });
}

const isSame = (settings: TenantSettings, change: ChangeTenant, name: Changeable): boolean =>
  Object.entries(change[name] ?? {}).every(
    ([field, value]) => settings[name][field as keyof TenantSettings[Changeable]] === value,
  );
