/** Vault's operations for the command line, which starts none of the loops. */
import type { ServiceDependencies } from '@cardea/service';
import { policyFindings } from './policies/policies.module.ts';
import {
  destroyErased,
  revealableServices,
  rotateKey,
  serviceParts,
} from './services/services.module.ts';

export const vaultOperations = (needs: ServiceDependencies) => ({
  rotateKey: (tenantId: string) => rotateKey({ ...needs, ...serviceParts(needs) }, tenantId),
  policyFindings: () => policyFindings(needs),
  destroyErased: () => destroyErased(needs),
  revealableServices: () => revealableServices(needs),
});
