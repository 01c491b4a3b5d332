/**
 * Vault: secrets of third-party services, encrypted under a key per tenant and handed out field by field.
 */
import { type ServiceDefinition, serviceOf } from '@cardea/service';
import { tenantKeyTable } from './adapters/data-keys.ts';
import { epochs } from './epochs.ts';
import { grantsModule, grantsStreams } from './grants/grants.module.ts';
import { identityFacts } from './identity-facts/identity-facts.ts';
import { pagesModule } from './pages/pages.module.ts';
import { policiesModule, policiesStreams } from './policies/policies.module.ts';
import { servicesModule, servicesStreams } from './services/services.module.ts';

export { vaultOperations } from './operations.ts';

export const vaultService: ServiceDefinition = {
  name: 'vault',
  streams: [...servicesStreams, ...policiesStreams, ...grantsStreams],
  migrations: new URL('../migrations/', import.meta.url),
  wrappedKeys: [tenantKeyTable],
  build: (needs) => {
    const shared = { ...needs, epochs: epochs(needs), facts: identityFacts(needs) };
    const services = servicesModule(shared);
    const { parts, shredTenant } = services;
    const { module: grants, listOwnGrants } = grantsModule({ ...shared, ...parts, shredTenant });
    return serviceOf([
      services.module,
      policiesModule(shared),
      grants,
      pagesModule({ ...needs, listOwnGrants }),
    ]);
  },
};
