/**
 * What a machine, an application of type `m2m`, holds of Cardea's own API, and who may change that. An owner in
 * person gives it; any administrator takes it; a machine does neither, so none can raise itself or another.
 */
import { BOOTSTRAP_TENANT_ID, type MachineScope } from '@cardea/contracts';
import type { ApplicationFields, ApplicationType } from './application.ts';

type Power = Pick<ApplicationFields, 'roles' | 'machine_scopes'>;
type Holder = Power & Pick<ApplicationFields, 'jwks'>;

/** What somebody may do with machines that hold a role or a scope. */
export type MachineRights = 'none' | 'take' | 'give';

export const isMachineType = (type: ApplicationType): boolean => type === 'm2m';

export const hasPower = ({ roles, machine_scopes }: Power): boolean =>
  roles.length > 0 || machine_scopes.length > 0;

/** Whether these rights are enough to make the first of a machine into the second. */
export function mayChangePower(rights: MachineRights, before: Holder, after: Holder): boolean {
  if (!hasPower(before) && !hasPower(after)) return true;
  if (rights !== 'take') return rights === 'give';
  return !gives(before, after);
}

/** Any other key than before is a new one: without keys the client secret counts again. */
const gives = (before: Holder, after: Holder): boolean =>
  hasMore(before.roles, after.roles) ||
  hasMore(before.machine_scopes, after.machine_scopes) ||
  (hasPower(after) && hasOtherKeys(before, after));

/** Whether tokens of before say more than the machine still has, or were got with a key that no longer counts. */
export const endsTokens = (before: Holder, after: Holder): boolean =>
  hasMore(after.roles, before.roles) ||
  hasMore(after.machine_scopes, before.machine_scopes) ||
  hasOtherKeys(before, after);

const hasMore = (before: readonly string[], after: readonly string[]): boolean =>
  after.some((each) => !before.includes(each));

const hasOtherKeys = (before: Holder, after: Holder): boolean =>
  JSON.stringify(before.jwks) !== JSON.stringify(after.jwks);

/** Whoever decides where mail leads and who vouches for addresses can sign in as anybody of the tenant. */
const DECIDES_SIGN_IN = /^(?:settings|providers):/;

/** Scopes that a machine of this tenant may hold: in the deployment's own none that leads to a system administrator. */
export const isMachineScopeIn = (tenantId: string, scope: MachineScope): boolean =>
  tenantId !== BOOTSTRAP_TENANT_ID || !DECIDES_SIGN_IN.test(scope);

/** The roles that a machine may hold: `system_admin` is a person's alone. */
export const isMachineRole = (
  { settings }: { readonly settings: { readonly roles: readonly string[] } },
  role: string,
): boolean => role === 'admin' || role === 'owner' || settings.roles.includes(role);
