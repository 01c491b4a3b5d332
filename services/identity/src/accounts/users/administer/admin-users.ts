/** The users of a tenant, from the table. */
import type { Database } from '@cardea/read-models';

export type AdminUser = {
  id: string;
  email: string;
  email_verified: boolean;
  display_name: string | null;
  avatar_url: string | null;
  locale: string | null;
  preferred_username: string | null;
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

const COLUMNS = `id, email, email_verified, display_name, avatar_url, locale, preferred_username, roles,
  created_at, status, locked_until, vouched, mfa_enabled, last_login_at, identities, updated_at`;

/** The expression of the search index. */
const SEARCHABLE = 'identity.searchable_user(email, display_name, preferred_username)';

/** A `locked` user may try again later, or after an administrator has unlocked them. */
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
  /** The beginning of the address or the name; or a whole address in its stored form. */
  readonly q?: { readonly beginning: string; readonly address: string | undefined };
  /** Text anywhere in the address, name or username. Case and accents are ignored. */
  readonly search?: string;
  readonly email?: string;
  readonly role?: string;
  readonly status?: string;
};

type Filter = { readonly where: string; readonly values: unknown[] };

function filterOf(list: UserList): Filter {
  const values: unknown[] = [list.tenantId];
  const next = (value: unknown) => `$${values.push(value)}`;
  const conditions = ['tenant_id = $1'];
  if (list.q !== undefined) {
    const beginning = list.q.beginning.trim().normalize('NFC').toLowerCase();
    const prefix = next(`${beginning.replaceAll(/[\\%_]/g, '\\$&')}%`);
    const address = next(list.q.address ?? null);
    conditions.push(
      `(email LIKE ${prefix} OR lower(display_name) LIKE ${prefix} OR email = ${address}::text)`,
    );
  }
  if (list.search !== undefined) {
    const search = `identity.searchable(${next(list.search)})`;
    conditions.push(
      `identity.trigrams(tenant_id, ${SEARCHABLE}) @> identity.trigrams($1, ${search})`,
      `strpos(${SEARCHABLE}, ${search}) > 0`,
    );
  }
  if (list.email !== undefined) conditions.push(`email = ${next(list.email)}`);
  if (list.role !== undefined) conditions.push(`roles @> ARRAY[${next(list.role)}]::text[]`);
  const isLocked = () => `locked_until IS NOT NULL AND locked_until > ${next(list.now)}`;
  if (list.status === 'locked') {
    conditions.push(`status = 'active' AND ${isLocked()}`);
  } else if (list.status !== undefined) {
    conditions.push(`status = ${next(list.status)}`);
    if (list.status === 'active') conditions.push(`NOT (${isLocked()})`);
  }
  return { where: conditions.join(' AND '), values };
}

type Page = { readonly rows: readonly AdminUser[]; readonly total: number };

export const listUsers = (database: Database, list: UserList): Promise<Page> =>
  list.search === undefined ? listed(database, list) : foundUsers(database, list);

async function listed(database: Database, list: UserList): Promise<Page> {
  const { where, values } = filterOf(list);
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

/**
 * Ids are found as the system, because row-level security prevents the use of an index for comparisons that are not
 * leakproof. The users are then read as the tenant. MATERIALIZED stops PostgreSQL from scanning the newest users until
 * enough of them match.
 */
async function foundUsers(database: Database, list: UserList): Promise<Page> {
  const { where, values } = filterOf(list);
  const found = await database.system.query<{ total: number; ids: readonly string[] }>(
    `WITH found AS MATERIALIZED (SELECT id, created_at FROM identity.users WHERE ${where}),
       page AS (SELECT id FROM found ORDER BY created_at DESC, id
                OFFSET $${values.length + 1} LIMIT $${values.length + 2})
     SELECT (SELECT count(*)::integer FROM found) AS total, ARRAY(SELECT id FROM page) AS ids`,
    [...values, list.offset, list.limit],
  );
  const { total = 0, ids = [] } = found.rows[0] ?? {};
  if (ids.length === 0) return { rows: [], total };
  const { rows } = await database.tenant(list.tenantId).query<Row>(
    `SELECT ${COLUMNS} FROM identity.users WHERE tenant_id = $1 AND id = ANY($2)
     ORDER BY created_at DESC, id`,
    [list.tenantId, ids],
  );
  return { rows: rows.map((row) => shown(row, list.now)), total };
}

/** The next users in the order of lists. Without `after` they start with the users created at `now`. */
export async function usersAfter(
  database: Database,
  of: {
    readonly tenantId: string;
    readonly now: Date;
    readonly after: Pick<AdminUser, 'created_at' | 'id'> | undefined;
    readonly limit: number;
  },
): Promise<readonly AdminUser[]> {
  const { tenantId, now, after, limit } = of;
  const { rows } = await database.tenant(tenantId).query<Row>(
    `SELECT ${COLUMNS} FROM identity.users
     WHERE tenant_id = $1 AND created_at <= $2 AND (created_at < $2 OR id > $3)
     ORDER BY created_at DESC, id LIMIT $4`,
    [tenantId, after?.created_at ?? now, after?.id ?? '', limit],
  );
  return rows.map((row) => shown(row, now));
}
