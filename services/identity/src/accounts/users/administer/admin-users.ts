/** The users of a tenant, from the table. */
import type { Database } from '@cardea/read-models';

export type AdminUser = {
  id: string;
  email: string;
  email_verified: boolean;
  display_name: string | null;
  avatar_url: string | null;
  roles: string[];
  created_at: string;
  status: string;
  vouched: boolean;
  mfa_enabled: boolean;
  last_login_at: string | null;
  identities: string[];
  updated_at: string;
};

type Row = Omit<AdminUser, 'email' | 'created_at' | 'last_login_at' | 'updated_at'> & {
  readonly email: string | null;
  readonly created_at: Date;
  readonly last_login_at: Date | null;
  readonly updated_at: Date;
};

const COLUMNS = `id, email, email_verified, display_name, avatar_url, roles, created_at, status,
  vouched, mfa_enabled, last_login_at, identities, updated_at`;

const shown = (row: Row): AdminUser => ({
  ...row,
  email: row.email ?? '',
  created_at: row.created_at.toISOString(),
  last_login_at: row.last_login_at?.toISOString() ?? null,
  updated_at: row.updated_at.toISOString(),
});

export async function findUser(
  database: Database,
  { tenantId, id }: { readonly tenantId: string; readonly id: string },
): Promise<AdminUser | undefined> {
  const { rows } = await database
    .tenant(tenantId)
    .query<Row>(`SELECT ${COLUMNS} FROM identity.users WHERE tenant_id = $1 AND id = $2`, [
      tenantId,
      id,
    ]);
  return rows[0] === undefined ? undefined : shown(rows[0]);
}

export type UserList = {
  readonly tenantId: string;
  readonly offset: number;
  readonly limit: number;
  /** Beginning of the address or the name. */
  readonly q?: string;
  readonly email?: string;
  readonly role?: string;
  readonly status?: string;
};

export async function listUsers(
  database: Database,
  list: UserList,
): Promise<{ readonly rows: readonly AdminUser[]; readonly total: number }> {
  const values: unknown[] = [list.tenantId];
  const next = (value: unknown) => `$${values.push(value)}`;
  const conditions = ['tenant_id = $1'];
  if (list.q !== undefined) {
    const prefix = next(`${list.q.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`);
    conditions.push(`(email LIKE ${prefix} OR lower(display_name) LIKE ${prefix})`);
  }
  if (list.email !== undefined) conditions.push(`email = ${next(list.email.toLowerCase())}`);
  if (list.role !== undefined) conditions.push(`roles @> ARRAY[${next(list.role)}]::text[]`);
  if (list.status !== undefined) conditions.push(`status = ${next(list.status)}`);
  const where = conditions.join(' AND ');
  return await database.asTenant(list.tenantId, async (sql) => {
    const counted = await sql.query<{ total: number }>(
      `SELECT count(*)::integer AS total FROM identity.users WHERE ${where}`,
      values,
    );
    const page = await sql.query<Row>(
      `SELECT ${COLUMNS} FROM identity.users WHERE ${where}
       ORDER BY created_at DESC, id OFFSET $${values.length + 1} LIMIT $${values.length + 2}`,
      [...values, list.offset, list.limit],
    );
    return { rows: page.rows.map(shown), total: counted.rows[0]?.total ?? 0 };
  });
}
