/**
 * Finds the objects that a user created or granted until a given time and that have not ended. Policies end them one
 * event at a time.
 */
import type { Database } from '@cardea/read-models';

const MADE_MAX = 10_000;

type Made = { readonly kind: 'key' | 'agent' | 'consent'; readonly id: string };

export async function madeByUser(
  database: Pick<Database, 'tenant'>,
  of: { readonly tenantId: string; readonly userId: string; readonly until: string },
): Promise<readonly Made[]> {
  const { rows } = await database.tenant(of.tenantId).query<Made>(
    `SELECT 'key' AS kind, id FROM identity.api_keys
       WHERE tenant_id = $1 AND created_by = $2 AND created_at <= $3 AND revoked_at IS NULL
     UNION ALL SELECT 'key', id FROM identity.agent_keys
       WHERE tenant_id = $1 AND created_by = $2 AND created_at <= $3 AND revoked_at IS NULL
     UNION ALL SELECT 'agent', id FROM identity.agents
       WHERE tenant_id = $1 AND created_by = $2 AND created_at <= $3 AND status = 'active'
     UNION ALL SELECT 'consent', id || '.' || epoch FROM identity.consents
       WHERE tenant_id = $1 AND user_id = $2 AND granted_at <= $3 AND revoked_at IS NULL
     LIMIT $4`,
    [of.tenantId, of.userId, of.until, MADE_MAX],
  );
  return rows;
}
