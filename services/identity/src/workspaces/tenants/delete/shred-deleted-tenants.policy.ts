/**
 * After a tenant was deleted: releases its slug, and erases every key that encrypts personal data in its log. The keys
 * of IP addresses and user agents expire on their own with the audit log.
 */
import type { Command } from '@cardea/event-store';
import { policy, type ServiceDependencies } from '@cardea/service';
import type { SnapshotCache } from '../../../streams/snapshot-cache.ts';
import type { Workspaces } from '../../workspaces.ts';
import { type TenantEvent, tenants } from '../tenant.ts';

type Dependencies = Pick<ServiceDependencies, 'sealer'> & {
  readonly systemCommand: (tenantId: string, ...idParts: readonly string[]) => Command;
  readonly snapshots: Pick<SnapshotCache, 'load'>;
  readonly workspaces: Pick<Workspaces, 'releaseSlug'>;
};

export const shredDeletedTenants = (needs: Dependencies) =>
  policy<TenantEvent>()({
    name: 'shred_deleted_tenants',
    on: {
      TenantDeleted: async ({ id: eventId, data: { id: tenantId } }) => {
        const tenant = await needs.snapshots.load(tenants, { tenantId, id: tenantId });
        if (tenant.status === 'none') return;
        const command = needs.systemCommand(tenantId, 'shred tenant', eventId);
        await needs.workspaces.releaseSlug({ tenantId, slug: tenant.slug }, command);
        await needs.sealer.eraseTenant(tenantId);
      },
    },
  });
