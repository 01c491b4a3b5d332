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
  readonly locked_until: Date | null;
  readonly updated_at: Date;
};

const COLUMNS = `id, email, email_verified, display_name, avatar_url, roles, created_at, status,
  locked_until, vouched, mfa_enabled, last_login_at, identities, updated_at`;

/** Somebody who is `locked` may try again later, or once they are unlocked. */
const shown = ({ locked_until: lockedUntil, ...row }: Row, now: Date): AdminUser => ({
  ...row,
  status: row.status === 'active' && now < (lockedUntil ?? now) ? 'locked' : row.status,
  email: row.email ?? '',
  created_at: row.created_at.toISOString(),
  last_login_at: row.last_login_at?.toISOString() ?? null,
  updated_at: row.updated_at.toISOString(),
});

export async function findUser(
  database: Database,
  { tenantId, id, now }: { readonly tenantId: string; readonly id: string; readonly now: Date },
): Promise<AdminUser | undefined> {
  const { rows } = await database
    .tenant(tenantId)
    .query<Row>(`SELECT ${COLUMNS} FROM identity.users WHERE tenant_id = $1 AND id = $2`, [
      tenantId,
      id,
    ]);
  return rows[0] === undefined ? undefined : shown(rows[0], now);
}

export type UserList = {
  readonly tenantId: string;
  readonly now: Date;
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
  const isLocked = () => `locked_until IS NOT NULL AND locked_until > ${next(list.now)}`;
  if (list.status === 'locked') {
    conditions.push(`status = 'active' AND ${isLocked()}`);
  } else if (list.status !== undefined) {
    conditions.push(`status = ${next(list.status)}`);
    if (list.status === 'active') conditions.push(`NOT (${isLocked()})`);
  }
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
    return {
      rows: page.rows.map((row) => shown(row, list.now)),
      total: counted.rows[0]?.total ?? 0,
    };
  });
}
