/** Lists the API keys of a tenant that are not revoked, newest first. */
import { type Database, pageOfTenant, type RowOf } from '@cardea/read-models';
import { apiKeyRows } from '../api-keys.projection.ts';

const LISTED = apiKeyRows.select(
  'id',
  'name',
  'scopes',
  'environment',
  'app_id',
  'created_at',
  'expires_at',
  'last_used_at',
);

export async function listApiKeys(
  database: Database,
  {
    tenantId,
    offset,
    limit,
  }: {
    readonly tenantId: string;
    readonly offset: number;
    readonly limit: number;
  },
) {
  const { rows, total } = await pageOfTenant(database, tenantId, {
    select: LISTED,
    from: 'identity.api_keys',
    where: 'tenant_id = $1 AND revoked_at IS NULL',
    values: [tenantId],
    order: 'created_at DESC, id',
    offset,
    limit,
  });
  return { rows: rows.map(shown), total };
}

const shown = (row: RowOf<typeof LISTED>) => ({
  ...row,
  prefix: prefixOfApiKey(row),
  created_at: row.created_at.toISOString(),
  expires_at: row.expires_at?.toISOString() ?? null,
  last_used_at: row.last_used_at?.toISOString() ?? null,
});

/** The prefix identifies a key in a list or a log. It cannot be used to authenticate. */
export const prefixOfApiKey = (key: { readonly environment: string; readonly id: string }) =>
  `svc_${key.environment}_${key.id}`;
