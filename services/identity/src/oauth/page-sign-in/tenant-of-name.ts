/** Finds the tenant at which a person signs in to the pages. */
import { DEPLOYMENT_TENANT } from '@cardea/contracts';
import type { ServiceDependencies } from '@cardea/service';
import { slugReservations } from '../../streams/reservation.ts';
import type { SnapshotCache } from '../../streams/snapshot-cache.ts';
import type { TenantFacts, Workspaces } from '../../workspaces/workspaces.module.ts';

/** Finds a tenant by slug or id. Without a name it returns the deployment's only tenant. */
export type FindTenant = (name: string | undefined) => Promise<TenantFacts | undefined>;

export const tenantOfName =
  (
    needs: Pick<ServiceDependencies, 'database' | 'sealer'> & {
      readonly snapshots: Pick<SnapshotCache, 'load'>;
      readonly workspaces: Pick<Workspaces, 'tenant'>;
    },
  ): FindTenant =>
  async (name) => {
    if (name === undefined || name === '') {
      const { rows } = await needs.database.system.query<{ id: string }>(
        'SELECT id FROM identity.tenants WHERE shred_at IS NULL LIMIT 2',
      );
      return rows.length === 1 ? needs.workspaces.tenant(rows[0]?.id ?? '') : undefined;
    }
    const found = await needs.workspaces.tenant(name.toLowerCase());
    if (found !== undefined) return found;
    const id = await needs.sealer.indexHash('deployment', 'slug', name.toLowerCase());
    const of = { tenantId: DEPLOYMENT_TENANT, id };
    const held = await needs.snapshots.load(slugReservations, of);
    return held.status === 'held' ? needs.workspaces.tenant(held.ownerId) : undefined;
  };
