/** Checks of `doctor` about the vault of each tenant. */
import { identityOperations } from '@cardea/identity';
import { vaultOperations } from '@cardea/vault';
import { type DoctorCheck, type Finding, ok, warning } from './check.ts';
import type { Deployment } from './deployment.ts';

const NAMED_MAX = 20;

const partOf = (deployment: Deployment, service: string) =>
  deployment.parts().find(({ definition }) => definition.name === service);

/** If the approver is not vouched for, each vend under the policy is refused with 403, unless the policy allows it. */
export const approvers: DoctorCheck = async ({ deployment }) => {
  const vault = partOf(deployment, 'vault');
  const identity = partOf(deployment, 'identity');
  if (vault === undefined) return [];
  const { barred, open, byTuples } = await vaultOperations(vault.needs).policyFindings();
  const withOpenRegistration = identity === undefined ? open : await openIn(identity.needs, open);
  const named = await namedByTuples(deployment, byTuples);
  if (barred.length + withOpenRegistration.length + named.length === 0) {
    return ok('all can be answered');
  }
  return [...barredFinding(barred), ...openFinding(withOpenRegistration), ...named];
};

type Findings = Awaited<ReturnType<ReturnType<typeof vaultOperations>['policyFindings']>>;

function barredFinding(barred: Findings['barred']): readonly Finding[] {
  if (barred.length === 0) return [];
  const named = barred.map(
    ({ tenant_id, policy_id, approver }) => `${policy_id} of tenant ${tenant_id} asks ${approver}`,
  );
  return warning(
    `${barred.length} name an approver for whom no administrator vouches: ${first(named)}`,
    'PATCH /api/v1/admin/users/{id} {"vouched":true}, or name another approver',
  );
}

function openFinding(open: Findings['open']): readonly Finding[] {
  if (open.length === 0) return [];
  const named = open.map(({ tenant_id, policy_id }) => `${policy_id} of tenant ${tenant_id}`);
  return warning(
    `${open.length} let any registered user approve, and registration is open, so the holder of an agent key can approve its own requests: ${first(named)}`,
    'PATCH /api/v1/vault/approval-policies/{id} {"approver_vouched":true}, or close registration',
  );
}

/** A key or machine that may write tuples can make any vouched person an approver. */
async function namedByTuples(
  deployment: Deployment,
  policies: Findings['byTuples'],
): Promise<readonly Finding[]> {
  const identity = partOf(deployment, 'identity');
  if (identity === undefined || policies.length === 0) return [];
  const { namesWithScope } = identityOperations(identity.needs);
  const tenants = [...new Set(policies.map(({ tenant_id }) => tenant_id))];
  const writers = (await Promise.all(tenants.map((id) => namesWithScope(id, 'fga:write')))).flat();
  if (writers.length === 0) return [];
  const named = policies.map(({ tenant_id, policy_id }) => `${policy_id} of tenant ${tenant_id}`);
  return warning(
    `${policies.length} ask the holders of a relation (${first(named)}), whom administrators name, and ${writers.length} API keys or machines with fga:write: ${first(writers)}`,
    'revoke those that others hold, or ask a role: PATCH /api/v1/vault/approval-policies/{id} {"approver":{"role":"admin"}}',
  );
}

async function openIn(
  identity: Parameters<typeof identityOperations>[0],
  policies: Findings['open'],
): Promise<Findings['open']> {
  const { isRegistrationOpen } = identityOperations(identity);
  const tenants = new Set(policies.map(({ tenant_id }) => tenant_id));
  const open = new Set<string>();
  for (const tenantId of tenants) if (await isRegistrationOpen(tenantId)) open.add(tenantId);
  return policies.filter(({ tenant_id }) => open.has(tenant_id));
}

function first(named: readonly string[]): string {
  const more = named.length - NAMED_MAX;
  return `${named.slice(0, NAMED_MAX).join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
}

/** Services whose values administrators may reveal. */
export const reveals: DoctorCheck = async ({ deployment }) => {
  const vault = partOf(deployment, 'vault');
  if (vault === undefined) return [];
  const services = await vaultOperations(vault.needs).revealableServices();
  if (services.length === 0) return ok('no service allows them');
  const named = services.map(({ tenant_id, name }) => `${name} of tenant ${tenant_id}`);
  const detail = `${services.length} services allow them: ${first(named)}`;
  return deployment.settings.VAULT_REVEAL === 'on'
    ? warning(detail, 'PATCH /api/v1/vault/services/{name} {"reveal":false}, or VAULT_REVEAL=off')
    : ok(`${detail}; VAULT_REVEAL is off`);
};
