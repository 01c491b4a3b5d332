/** Lists the API keys of a tenant that are not revoked, newest first. */
import type { KeyEnvironment } from '@cardea/crypto';
import type { Database } from '@cardea/read-models';

type Row = {
  readonly id: string;
  readonly name: string;
  readonly scopes: string[];
  readonly environment: KeyEnvironment;
  readonly app_id: string | null;
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly last_used_at: Date | null;
};

export async function listApiKeys(
  database: Database,
  of: { readonly tenantId: string; readonly offset: number; readonly limit: number },
) {
  return await database.asTenant(of.tenantId, async (sql) => {
    const where = 'tenant_id = $1 AND revoked_at IS NULL';
    const counted = await sql.query<{ total: number }>(
      `SELECT count(*)::integer AS total FROM identity.api_keys WHERE ${where}`,
      [of.tenantId],
    );
    const page = await sql.query<Row>(
      `SELECT id, name, scopes, environment, app_id, created_at, expires_at, last_used_at
       FROM identity.api_keys WHERE ${where} ORDER BY created_at DESC, id OFFSET $2 LIMIT $3`,
      [of.tenantId, of.offset, of.limit],
    );
    return { rows: page.rows.map(shown), total: counted.rows[0]?.total ?? 0 };
  });
}

const shown = (row: Row) => ({
  ...row,
  prefix: prefixOfApiKey(row),
  created_at: row.created_at.toISOString(),
  expires_at: row.expires_at?.toISOString() ?? null,
  last_used_at: row.last_used_at?.toISOString() ?? null,
});

/** The prefix identifies a key in a list or a log. It cannot be used to authenticate. */
export const prefixOfApiKey = (key: { readonly environment: string; readonly id: string }) =>
  `svc_${key.environment}_${key.id}`;
