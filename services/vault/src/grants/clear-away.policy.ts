/**
 * What a change of a service leaves behind is cleared away: values of destroyed versions, the name and the
 * grants of a deleted service. The handler does most of it before its answer; this does it after a crash.
 */
import type { RecordedEvent } from '@cardea/event-store';
import type { Policy } from '@cardea/service';
import type { SecretVersionDestroyed, ServiceDeleted } from '../services/service.ts';
import type { Vault } from '../vault.ts';
import { endGrants } from './end-grants.ts';

export const clearAway = (vault: Vault): Policy => ({
  name: 'clear_away',
  on: ['SecretVersionDestroyed', 'ServiceDeleted'],
  handle: async (event: RecordedEvent) => {
    const { tenantId } = event.metadata;
    if (event.type === 'SecretVersionDestroyed') {
      const { secret_id } = event.data as SecretVersionDestroyed['data'];
      await vault.secrets.erase(tenantId, [secret_id]);
      return;
    }
    const { service_id, service_name } = event.data as ServiceDeleted['data'];
    await vault.secrets.eraseOwner({ tenantId, ownerId: service_id });
    const command = vault.systemCommand(tenantId, 'clear away', event.id);
    await vault.catalog.release(service_name, service_id, command);
    const where = { service_id };
    const ending = { tenantId, eventId: event.id, cause: 'service_deleted', where };
    await endGrants(vault, ending);
  },
});
