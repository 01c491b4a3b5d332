/**
 * The roles and scopes of a machine (an application of type `m2m`) at Cardea's own API, and who may change them. Only
 * an owner in person gives them; any administrator may remove them. A machine can do neither, so no machine can extend
 * its own rights or another machine's.
 */
import { BOOTSTRAP_TENANT_ID, type MachineScope } from '@cardea/contracts';
import type { ApplicationFields, ApplicationType } from './application.ts';

type Power = Pick<ApplicationFields, 'roles' | 'machine_scopes'>;
type Holder = Power & Pick<ApplicationFields, 'jwks'>;

/** The rights of a caller over machines that have a role or a scope. */
export type MachineRights = 'none' | 'take' | 'give';

export const isMachineType = (type: ApplicationType): boolean => type === 'm2m';

export const hasPower = ({ roles, machine_scopes }: Power): boolean =>
  roles.length > 0 || machine_scopes.length > 0;

/** Whether these rights suffice to change the machine from the first state to the second. */
export function mayChangePower(rights: MachineRights, before: Holder, after: Holder): boolean {
  if (!hasPower(before) && !hasPower(after)) return true;
  if (rights !== 'take') return rights === 'give';
  return !gives(before, after);
}

/** A key that was not there before counts as new. Without keys the client secret is accepted again. */
const gives = (before: Holder, after: Holder): boolean =>
  hasMore(before.roles, after.roles) ||
  hasMore(before.machine_scopes, after.machine_scopes) ||
  (hasPower(after) && hasOtherKeys(before, after));

/**
 * Whether older tokens state more than the machine still has, or were obtained with a key that is no longer accepted.
 */
export const endsTokens = (before: Holder, after: Holder): boolean =>
  hasMore(after.roles, before.roles) ||
  hasMore(after.machine_scopes, before.machine_scopes) ||
  hasOtherKeys(before, after);

const hasMore = (before: readonly string[], after: readonly string[]): boolean =>
  after.some((each) => !before.includes(each));

const hasOtherKeys = (before: Holder, after: Holder): boolean =>
  JSON.stringify(before.jwks) !== JSON.stringify(after.jwks);

/**
 * A machine with these scopes decides where mail goes and who vouches for addresses, so it could sign in as any user of
 * the tenant.
 */
const DECIDES_SIGN_IN = /^(?:settings|providers):/;

/**
 * Whether a machine of this tenant may have the scope. In the deployment's own tenant, scopes that lead to system
 * administrator rights are excluded.
 */
export const isMachineScopeIn = (tenantId: string, scope: MachineScope): boolean =>
  tenantId !== BOOTSTRAP_TENANT_ID || !DECIDES_SIGN_IN.test(scope);

/** Whether a machine may have the role. Only people may have `system_admin`. */
export const isMachineRole = (
  { settings }: { readonly settings: { readonly roles: readonly string[] } },
  role: string,
): boolean => role === 'admin' || role === 'owner' || settings.roles.includes(role);
