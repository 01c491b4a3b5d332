/** Table `audit.retention`: how long each tenant keeps its rows, as set by its organization. */
import { type IntegrationEvent, identityEvents } from '@cardea/contracts';
import { orNull, type Queryable, rowStatements, type Statement, table } from '@cardea/read-models';

type Fact = { readonly organizationId: string; readonly days: number | null };

/**
 * The retention that an event states for a tenant. An organization's retention is stored under the tenant that was
 * created with it.
 */
function factOf(event: IntegrationEvent): Fact | undefined {
  const organization =
    identityEvents.dataOf(event, 'organization.created') ??
    identityEvents.dataOf(event, 'organization.updated');
  if (organization !== undefined) {
    return { organizationId: organization.id, days: organization.audit_retention_days };
  }
  const tenant =
    identityEvents.dataOf(event, 'tenant.created') ??
    identityEvents.dataOf(event, 'tenant.updated');
  return tenant === undefined ? undefined : { organizationId: tenant.organization_id, days: null };
}

const retention = table('retention', {
  key: ['tenant_id'],
  columns: { tenant_id: 'text', organization_id: 'text', days: orNull('integer') },
});

export const notesOfRetention = (events: readonly IntegrationEvent[]): readonly Statement[] =>
  rowStatements(
    { schema: 'audit', tables: [retention] },
    events.flatMap((event) => {
      const fact = factOf(event);
      if (fact === undefined) return [];
      const { organizationId: organization_id, days } = fact;
      const row = { tenant_id: event.tenantId, organization_id, days: days ?? undefined };
      return retention.upsert(row, { days: null });
    }),
  );

const DAYS = {
  name: 'audit_retention_days',
  text: `SELECT home.days FROM audit.retention AS own
         JOIN audit.retention AS home USING (organization_id)
         WHERE own.tenant_id = $1 AND home.days IS NOT NULL`,
};

/** Null if it was never set. */
export async function retentionDaysOf(sql: Queryable, tenantId: string): Promise<number | null> {
  const { rows } = await sql.query<{ days: number }>(DAYS, [tenantId]);
  return rows[0]?.days ?? null;
}
