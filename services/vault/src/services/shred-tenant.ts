/**
 * Makes a deleted tenant's secrets unreadable for good: first the services are deleted, then the key, then the values.
 */
import type { ServiceDependencies } from '@cardea/service';
import type { DataKeys } from '../adapters/data-keys.ts';
import type { SecretStore } from '../adapters/secret-store.ts';
import type { Epochs } from '../epochs.ts';
import { deleteService } from './delete/delete.ts';
import { services } from './service.ts';

type ShredDependencies = Pick<ServiceDependencies, 'database' | 'streams' | 'systemCommand'> & {
  readonly epochs: Epochs;
  readonly keys: DataKeys;
  readonly secrets: SecretStore;
};

export const shredTenant =
  (vault: ShredDependencies) =>
  async (tenantId: string, eventId: string): Promise<void> => {
    const { rows } = await vault.database
      .tenant(tenantId)
      .query<{ id: string }>('SELECT id FROM vault.services WHERE tenant_id = $1', [tenantId]);
    for (const { id } of rows) {
      const command = vault.systemCommand(tenantId, 'shred', eventId, id);
      await vault.streams.decideOn(services, id, command, deleteService);
    }
    await vault.keys.shred(tenantId);
    await vault.secrets.eraseTenant(tenantId);
    await vault.epochs.changed(tenantId);
  };
