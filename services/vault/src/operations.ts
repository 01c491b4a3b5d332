/** Vault's operations for the command line, which starts none of the loops. */
import type { ServiceDependencies } from '@cardea/service';
import { barredPolicies } from './policies/policies.module.ts';
import { rotateKey, serviceParts } from './services/services.module.ts';

export const vaultOperations = (needs: ServiceDependencies) => ({
  rotateKey: (tenantId: string) => rotateKey({ ...needs, ...serviceParts(needs) }, tenantId),
  barredPolicies: () => barredPolicies(needs),
});
