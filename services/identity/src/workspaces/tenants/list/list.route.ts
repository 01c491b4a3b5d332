/** Lists the tenants of the organization, oldest first. */
import { PAGE_SIZE_DEFAULT, pageAnswer, pageQuery } from '@cardea/contracts';
import { type Endpoint, endpoint } from '@cardea/http';
import { pageOfTenants } from '@cardea/read-models';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { closed } from '../../../http/answers.ts';
import type { Workspaces } from '../../workspaces.ts';
import { shownTenant, TenantShape } from '../tenant-shape.ts';
import { tenantRows } from '../workspaces.projection.ts';

type Dependencies = Pick<ServiceDependencies, 'database'> & {
  readonly workspaces: Pick<Workspaces, 'tenant'>;
};

export const listTenantsRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      tag: 'Administration',
      who: ['owner'],
      name: 'list_tenants',
      machine: 'never',
      access: { class: 'things', applicationScope: 'roles' },
      summary: 'List the tenants of the organization',
      description: "Lists the tenants of the caller's organization.",
      method: 'get',
      path: '/api/v1/admin/tenants',
      query: Type.Object(pageQuery),
      ok: closed({ tenants: Type.Array(TenantShape), ...pageAnswer }),
      refusals: { not_found: 404 },
      consistency: { reads: ['workspaces'] },
    },
    async ({ tenantId, query }) => {
      const { offset = 0, limit = PAGE_SIZE_DEFAULT } = query;
      const own = await needs.workspaces.tenant(tenantId);
      if (own === undefined) return { refused: 'not_found' };
      // The query spans the tenants of one organization, so it filters by the organization instead of a tenant.
      const { rows, total } = await pageOfTenants(needs.database, {
        select: tenantRows.select('id'),
        from: 'identity.tenants',
        where: 'organization_id = $1 AND deleted_at IS NULL',
        values: [own.organizationId],
        order: 'created_at, id',
        offset,
        limit,
      });
      const found = await Promise.all(rows.map(({ id }) => needs.workspaces.tenant(id)));
      const tenants = found.flatMap((tenant) => (tenant === undefined ? [] : shownTenant(tenant)));
      return { ok: { tenants, total, offset, limit } };
    },
  );
