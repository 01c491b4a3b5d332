/** The caller's rights over applications, and the refusal if they do not suffice. */
import type { MachineScope } from '@cardea/contracts';
import type { Request } from '@cardea/http';
import { administratorOf, isHighestIn, rankOf } from '../../../ranks/ranks.ts';
import type { TenantFacts } from '../../tenants/tenant.ts';
import { isMachineRole, isMachineScopeIn } from '../machine-power.ts';
import type { ByAdministrator } from './administer.ts';

export function byAdministrator({ principal, tenantId }: AsAdministrator): ByAdministrator {
  // Only a person may change applications that act for users or machines that act for themselves. A machine may not,
  // whatever its roles.
  if (principal?.kind !== 'user') return { isHighest: false, machines: 'none' };
  const administrator = administratorOf(principal);
  return {
    isHighest: isHighestIn(tenantId, administrator),
    machines: administrator.rank >= rankOf(['owner']) ? 'give' : 'take',
  };
}

type AsAdministrator = Pick<Request<unknown, unknown, unknown>, 'principal' | 'tenantId'>;

export const NOT_HIGHEST = {
  refused: 'forbidden',
  message:
    'An application that acts for people or receives their private metadata is for the highest role of the tenant to change.',
} as const;
export const NOT_OWNER = {
  refused: 'forbidden',
  message: 'Only an owner in person gives a machine a role, a scope, a secret or a key.',
} as const;
export function refusedFor<Reason extends string>(reason: Reason) {
  if (reason === 'not_owner') return NOT_OWNER;
  if (reason === 'forbidden') return NOT_HIGHEST;
  return { refused: reason as Exclude<Reason, 'forbidden' | 'not_owner'> };
}

/** The first role or scope that no machine of the tenant can have. */
export function unusablePower(
  tenant: TenantFacts,
  {
    roles = [],
    machine_scopes: scopes = [],
  }: { readonly roles?: readonly string[]; readonly machine_scopes?: readonly MachineScope[] },
) {
  const unusable = roles.flatMap((role, index) =>
    isMachineRole(tenant, role) ? [] : [{ field: `roles.${index}`, rule: 'not_for_machines' }],
  );
  if (unusable.length > 0) return { refused: 'unknown_role', details: unusable } as const;
  const details = scopes.flatMap((scope, index) =>
    isMachineScopeIn(tenant.id, scope)
      ? []
      : [{ field: `machine_scopes.${index}`, rule: 'not_in_this_tenant' }],
  );
  return details.length === 0 ? undefined : ({ refused: 'invalid_scope', details } as const);
}
