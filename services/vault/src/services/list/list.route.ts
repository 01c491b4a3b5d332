/** Lists the services of a tenant, and returns one by name. */
import { PAGE_SIZE_DEFAULT, pageAnswer, pageQuery } from '@cardea/contracts';
import { type Endpoint, endpoint } from '@cardea/http';
import { pageOfTenant } from '@cardea/read-models';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { READS } from '../../administration.ts';
import type { Catalog } from '../catalog.ts';
import { ByName, ServiceShape, shownService } from '../service-shape.ts';
import { serviceRows } from '../services.projection.ts';

type ListServicesDependencies = Pick<ServiceDependencies, 'database'> & {
  readonly catalog: Catalog;
};

export const listServicesRoute = (vault: ListServicesDependencies): Endpoint =>
  endpoint(
    {
      tag: 'Vault',
      name: 'list_services',
      machine: 'vault:read',
      access: { class: 'things', applicationScope: 'roles' },
      summary: 'Registered services, newest first',
      description:
        'Lists the services of the tenant, newest first and without values, 50 unless `limit` says otherwise.',
      method: 'get',
      path: '/api/v1/vault/services',
      who: READS,
      query: Type.Object(pageQuery),
      ok: Type.Object({ services: Type.Array(ServiceShape), ...pageAnswer }),
      refusals: {},
      consistency: { reads: ['services'] },
    },
    async ({ tenantId, query }) => {
      const { offset = 0, limit = PAGE_SIZE_DEFAULT } = query;
      const { rows, total } = await pageOfTenant(vault.database, tenantId, {
        select: serviceRows.select('shown'),
        from: 'vault.services',
        where: 'tenant_id = $1',
        values: [tenantId],
        order: 'created_at DESC, id DESC',
        offset,
        limit,
      });
      return { ok: { services: rows.map(({ shown }) => shown), total, offset, limit } };
    },
  );

export const getServiceRoute = (vault: ListServicesDependencies): Endpoint =>
  endpoint(
    {
      tag: 'Vault',
      name: 'get_service',
      machine: 'vault:read',
      access: { class: 'things', applicationScope: 'roles' },
      summary: 'One service: its metadata, and which fields are set',
      description:
        'Shows a service: its lifetimes, and for each field whether it has a value and in which version.',
      method: 'get',
      path: '/api/v1/vault/services/{name}',
      who: READS,
      params: ByName,
      ok: ServiceShape,
      refusals: { service_not_found: 404 },
    },
    async ({ tenantId, params }) => {
      const record = await vault.catalog.byName(tenantId, params.name);
      return record === undefined ? { refused: 'service_not_found' } : { ok: shownService(record) };
    },
  );
