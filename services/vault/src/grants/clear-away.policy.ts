/**
 * Removes values and grants that a change of a service makes obsolete: values of destroyed versions, and the name and
 * grants of a deleted service. The handler does most of it before it answers; this policy completes it after a crash.
 */
import { policy, type ServiceDependencies } from '@cardea/service';
import type { SecretStore } from '../adapters/secret-store.ts';
import type { Epochs } from '../epochs.ts';
import type { Catalog, ServiceEvent } from '../services/services.module.ts';
import { endGrants } from './end-grants.ts';

type ClearAwayDependencies = Pick<
  ServiceDependencies,
  'store' | 'database' | 'positions' | 'streams' | 'systemCommand' | 'clock'
> & { readonly epochs: Epochs; readonly catalog: Catalog; readonly secrets: SecretStore };

export const clearAway = (vault: ClearAwayDependencies) =>
  policy<ServiceEvent>()({
    name: 'clear_away',
    on: {
      SecretVersionDestroyed: async ({ data, metadata }) => {
        await vault.secrets.erase(metadata.tenantId, [data.secret_id]);
      },
      ServiceDeleted: async ({ id: eventId, data, metadata: { tenantId } }) => {
        const { service_id, service_name } = data;
        await vault.secrets.eraseOwner({ tenantId, ownerId: service_id });
        const command = vault.systemCommand(tenantId, 'clear away', eventId);
        await vault.catalog.release(service_name, service_id, command);
        const where = { service_id };
        await endGrants(vault, { tenantId, eventId, cause: 'service_deleted', where });
      },
    },
  });
