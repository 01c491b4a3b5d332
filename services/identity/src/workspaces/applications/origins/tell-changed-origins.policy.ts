/** Notifies every process when the origins that may call the API have changed. */
import type { RecordedEvent } from '@cardea/event-store';
import { ORIGINS_CHANGED, policy, type ServiceDependencies } from '@cardea/service';
import type { TenantEvent } from '../../tenants/tenant.ts';
import type { ApplicationEvent } from '../application.ts';

/** How long to wait for the table, which notified processes read. If it lags, they read it again on their own. */
const TABLE_WAIT_MS = 5_000;

export const tellChangedOrigins = ({
  cache,
  positions,
}: Pick<ServiceDependencies, 'cache' | 'positions'>) => {
  const tell = async ({ position }: Pick<RecordedEvent, 'position'>): Promise<void> => {
    await positions.reached(['workspaces'], position, TABLE_WAIT_MS);
    await cache.publish(ORIGINS_CHANGED, '');
  };
  return policy<ApplicationEvent | TenantEvent>()({
    name: 'tell_changed_origins',
    on: {
      ApplicationCreated: async (event) => {
        if (event.data.allowed_origins.length > 0) await tell(event);
      },
      ApplicationChanged: async (event) => {
        if (event.data.allowed_origins !== undefined) await tell(event);
      },
      ApplicationDeleted: tell,
      TenantClosed: tell,
      TenantDeleted: tell,
    },
  });
};
