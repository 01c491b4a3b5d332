/** What the command line does here, where no loop runs. */
import type { ServiceDependencies } from '@cardea/service';
import { barredPolicies } from './policies/policies.module.ts';
import { rotateKey, serviceParts } from './services/services.module.ts';

export const vaultOperations = (needs: ServiceDependencies) => ({
  rotateKey: (tenantId: string) => rotateKey({ ...needs, ...serviceParts(needs) }, tenantId),
  barredPolicies: () => barredPolicies(needs),
});
