/** A deleted tenant's secrets can never be read again: the services go, then the key, then the values. */

import type { Vault } from '../vault.ts';
import { deleteService } from './delete/delete.ts';
import { services } from './service.ts';

export const shredTenant =
  (vault: Vault) =>
  async (tenantId: string, eventId: string): Promise<void> => {
    const { rows } = await vault.database.asTenant(tenantId, (sql) =>
      sql.query<{ id: string }>('SELECT id FROM vault.services WHERE tenant_id = $1', [tenantId]),
    );
    for (const { id } of rows) {
      const command = vault.systemCommand(tenantId, 'shred', eventId, id);
      await vault.streams.decideOn(services, id, command, deleteService);
    }
    await vault.keys.shred(tenantId);
    await vault.secrets.eraseTenant(tenantId);
    await vault.epochs.changed(tenantId);
  };
