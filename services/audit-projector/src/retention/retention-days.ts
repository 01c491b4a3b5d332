/** How long each tenant keeps its rows, as its organization wants it; in table `audit.retention`. */
import { type IntegrationEvent, identityEvents } from '@cardea/contracts';
import type { Queryable, Statement } from '@cardea/read-models';

type Fact = { readonly organizationId: string; readonly days: number | null };

/**
 * The retention that an event names for a tenant. That of an organization is stored under the tenant with
 * which it was created.
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

const NOTE = {
  name: 'audit_note_retention',
  text: `INSERT INTO audit.retention (tenant_id, organization_id, days)
         SELECT * FROM unnest($1::text[], $2::text[], $3::int[])
         ON CONFLICT (tenant_id) DO UPDATE SET
           organization_id = excluded.organization_id, days = coalesce(excluded.days, retention.days)`,
};

export function notesOfRetention(events: readonly IntegrationEvent[]): readonly Statement[] {
  const facts = new Map<string, Fact>();
  for (const event of events) {
    const fact = factOf(event);
    if (fact === undefined) continue;
    const days = fact.days ?? facts.get(event.tenantId)?.days ?? null;
    facts.set(event.tenantId, { ...fact, days });
  }
  if (facts.size === 0) return [];
  const all = [...facts.values()];
  const values = [
    [...facts.keys()],
    all.map(({ organizationId }) => organizationId),
    all.map(({ days }) => days),
  ];
  return [{ ...NOTE, values }];
}

const DAYS = {
  name: 'audit_retention_days',
  text: `SELECT home.days FROM audit.retention AS own
         JOIN audit.retention AS home USING (organization_id)
         WHERE own.tenant_id = $1 AND home.days IS NOT NULL`,
};

/** Null where it was never set. */
export async function retentionDaysOf(sql: Queryable, tenantId: string): Promise<number | null> {
  const { rows } = await sql.query<{ days: number }>(DAYS, [tenantId]);
  return rows[0]?.days ?? null;
}
