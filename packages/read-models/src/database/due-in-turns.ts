/**
 * SQL of `tenants (id)`, to be placed after WITH RECURSIVE: each tenant that has rows in the table, with one index
 * lookup per tenant.
 */
export const tenantsIn = (table: string): string => `
  tenants (id) AS (
    (SELECT tenant_id FROM ${table} ORDER BY tenant_id LIMIT 1)
    UNION ALL
    SELECT (SELECT q.tenant_id FROM ${table} q WHERE q.tenant_id > tenants.id
            ORDER BY q.tenant_id LIMIT 1)
    FROM tenants WHERE tenants.id IS NOT NULL
  )`;

/**
 * Selects the due rows of a queue of all tenants in turns. The first row of each tenant comes before the second of any,
 * so a tenant with a thousand rows does not delay others. The table needs an index on (tenant_id, its due time).
 */
export const dueInTurns = (of: {
  readonly table: string;
  readonly columns: string;
  /** The column with the due time. */
  readonly dueAt: string;
}): string => `
  WITH RECURSIVE ${tenantsIn(of.table)}
  SELECT ${of.columns} FROM (
    SELECT q.*, row_number() OVER (PARTITION BY q.tenant_id ORDER BY q.${of.dueAt}) AS turn
    FROM tenants CROSS JOIN LATERAL (
      SELECT * FROM ${of.table} one WHERE one.tenant_id = tenants.id AND one.${of.dueAt} <= $2
      ORDER BY one.${of.dueAt} LIMIT $3
    ) AS q
  ) AS queued
  ORDER BY ${of.dueAt} > $1, turn, ${of.dueAt} LIMIT $3`;
