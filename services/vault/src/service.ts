/** Vault: other people's secrets, kept under a key per tenant and handed out field by field. */
import type { ServiceDefinition } from '@cardea/service';
import { tenantKeyTable } from './adapters/data-keys.ts';
import { grantsProjection } from './grants/grants.projection.ts';
import { hearOthers } from './grants/identity.consumer.ts';
import { getGrantRoute, listGrantsRoute } from './grants/list/list.route.ts';
import { revokeGrantRoute } from './grants/revoke/revoke.route.ts';
import { vendRoute } from './grants/vend/vend.route.ts';
import { addPolicyRoute } from './policies/add/add.route.ts';
import { changePolicyRoute } from './policies/change/change.route.ts';
import { evaluatePoliciesRoute } from './policies/evaluate/evaluate.route.ts';
import { forgetOldPolicies } from './policies/forget-old-policies.policy.ts';
import { getPolicyRoute, listPoliciesRoute } from './policies/list/list.route.ts';
import { removePolicyRoute } from './policies/remove/remove.route.ts';

export { vaultOperations } from './operations.ts';

import { clearAway } from './grants/clear-away.policy.ts';
import { vaultRelay } from './relay.ts';
import { changeServiceRoute } from './services/change/change.route.ts';
import { deleteServiceRoute } from './services/delete/delete.route.ts';
import { getServiceRoute, listServicesRoute } from './services/list/list.route.ts';
import { registerServiceRoute } from './services/register/register.route.ts';
import { keyRotation } from './services/rotate-keys.ts';
import { servicesProjection } from './services/services.projection.ts';
import { shredTenant } from './services/shred-tenant.ts';
import { sweepSecrets } from './services/sweep-secrets.ts';
import { writeSecretsRoute } from './services/write-secrets/write-secrets.route.ts';
import { vaultOf } from './vault.ts';

export const vaultService: ServiceDefinition = {
  name: 'vault',
  migrations: new URL('../migrations/', import.meta.url),
  wrappedKeys: [tenantKeyTable],
  build: (needs) => {
    const vault = vaultOf(needs);
    const changed = (tenantId: string): void => void vault.epochs.changed(tenantId);
    return {
      endpoints: [
        registerServiceRoute(vault),
        listServicesRoute(vault),
        getServiceRoute(vault),
        changeServiceRoute(vault),
        deleteServiceRoute(vault),
        writeSecretsRoute(vault),
        addPolicyRoute(vault),
        listPoliciesRoute(vault),
        evaluatePoliciesRoute(vault),
        getPolicyRoute(vault),
        changePolicyRoute(vault),
        removePolicyRoute(vault),
        vendRoute(vault),
        listGrantsRoute(vault),
        getGrantRoute(vault),
        revokeGrantRoute(vault),
      ],
      projections: [servicesProjection(changed), grantsProjection(changed)],
      relay: vaultRelay,
      consumers: [hearOthers(vault, shredTenant(vault))],
      policies: [clearAway(vault), forgetOldPolicies(vault)],
      loops: [vault.reuse.loop, sweepSecrets(vault), keyRotation(vault)],
      start: () => vault.keys.checkCanary(),
      stop: async () => {
        await vault.reuse.flush();
        await vault.refusals.flush(true);
      },
    };
  },
};
