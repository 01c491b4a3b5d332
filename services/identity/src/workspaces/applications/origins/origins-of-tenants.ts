/** Every origin that an application of any tenant allows. All processes cache this list. */
import { computed, type RowOf, selection } from '@cardea/read-models';
import type { Peers, ServiceDependencies } from '@cardea/service';

const ORIGIN = selection({ origin: 'text' }).and(
  computed('tenants', 'array_agg(DISTINCT application.tenant_id)', 'text[]'),
);

export const originsOfTenants =
  ({ database }: Pick<ServiceDependencies, 'database'>): Peers['identity']['origins'] =>
  async () => {
    const { rows } = await database.system.query<RowOf<typeof ORIGIN>>({
      name: 'identity_origins_of_tenants',
      text: `SELECT ${ORIGIN.columns}
       FROM identity.applications application
       JOIN identity.tenants tenant ON tenant.id = application.tenant_id
       CROSS JOIN LATERAL unnest(application.allowed_origins) AS origin
       WHERE application.deleted_at IS NULL AND tenant.deleted_at IS NULL
       GROUP BY origin`,
    });
    return { origins: rows };
  };
