/** What the command line does here; nothing turns there. */
import type { ServiceNeeds } from '@cardea/service';
import { barredPolicies } from './policies/barred-approvers.ts';
import { rotateKey } from './services/rotate-keys.ts';
import { serviceParts } from './services/services.module.ts';

export const vaultOperations = (needs: ServiceNeeds) => ({
  rotateKey: (tenantId: string) => rotateKey({ ...needs, ...serviceParts(needs) }, tenantId),
  barredPolicies: () => barredPolicies(needs),
});
