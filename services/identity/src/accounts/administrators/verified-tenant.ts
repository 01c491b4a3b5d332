/**
 * A tenant is verified once one of its owners or administrators has a proven address. From then on a person is
 * accountable for what it sends. Before that, anybody may have created it a minute ago.
 */
import type { Database } from '@cardea/read-models';

export const isVerifiedTenant = (
  database: Pick<Database, 'asTenant'>,
  tenantId: string,
): Promise<boolean> =>
  database.asTenant(tenantId, async (sql) => {
    const { rows } = await sql.query(
      `SELECT 1 FROM identity.users
       WHERE tenant_id = $1 AND roles && ARRAY['admin', 'owner', 'system_admin']
         AND status = 'active' AND email_verified LIMIT 1`,
      [tenantId],
    );
    return rows.length > 0;
  });
