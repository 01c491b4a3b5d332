/**
 * An owner changes a tenant and its settings. Fields that are missing stay unchanged, and an equal value is no change.
 */
import type { Sealed } from '@cardea/crypto';
import { accept, type Decision, refuse } from '@cardea/event-store';
import type { Environment } from '../environment.ts';
import { SOCIAL_PROVIDERS, secretName } from '../social-settings.ts';
import type { Tenant, TenantEvent, TenantSettings, TenantSettingsChange } from '../tenant.ts';

export type ChangeTenant = {
  readonly name?: string;
  readonly display_name?: string;
  readonly environment?: Environment;
  readonly settings: TenantSettingsChange;
  /** Encrypted secrets by the names of their settings. */
  readonly secrets?: { readonly [name: string]: Sealed };
};

export function changeTenant(
  { settings, secrets = {}, ...facts }: ChangeTenant,
  tenant: Tenant,
): Decision<TenantEvent, 'not_found'> {
  if (tenant.status !== 'active') return refuse('not_found');
  const { id } = tenant;
  const before = { ...tenant, display_name: tenant.displayName };
  const changed = onlyChanged(facts, before);
  const set = onlyChanged(mergedSettings(tenant.settings, settings), tenant.settings);
  const events: TenantEvent[] = [];
  if (changed !== undefined) events.push({ type: 'TenantChanged', data: { id, ...changed } });
  if (set !== undefined) {
    events.push({ type: 'TenantSettingsChanged', data: { id, settings: set } });
  }
  for (const [name, value] of Object.entries(secrets)) {
    events.push({ type: 'TenantSecretSet', data: { id, name, value } });
  }
  for (const provider of SOCIAL_PROVIDERS) {
    const name = secretName(provider);
    const isGone = settings.social?.[provider] === null && tenant.secrets[name] !== undefined;
    if (isGone) events.push({ type: 'TenantSecretSet', data: { id, name, value: null } });
  }
  return accept(...events);
}

/** A setting of several fields keeps those that the change does not name. */
function mergedSettings(
  before: TenantSettings,
  change: TenantSettingsChange,
): Partial<TenantSettings> {
  const all = Object.entries(change).map(([name, value]) => {
    const own: unknown = before[name as keyof TenantSettings];
    return [name, isFields(value) && isFields(own) ? { ...own, ...value } : value];
  });
  return Object.fromEntries(all);
}

/** Returns undefined if nothing is left. */
function onlyChanged<Change extends object>(change: Change, before: object): Change | undefined {
  const own = before as { readonly [name: string]: unknown };
  const left = Object.entries(change).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(own[name]),
  );
  return left.length === 0 ? undefined : (Object.fromEntries(left) as Change);
}

const isFields = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
