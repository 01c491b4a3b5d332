/** The users of a tenant, from the table. */
import { type Database, type PageOfRows, pageOfTenant, type RowOf } from '@cardea/read-models';
import { PROFILE_FIELDS } from '../../../http/profile-fields.ts';
import { userRows } from '../users.projection.ts';

const LISTED = userRows.select(
  'id',
  'email',
  'email_verified',
  ...PROFILE_FIELDS,
  'roles',
  'created_at',
  'status',
  'locked_until',
  'vouched',
  'mfa_enabled',
  'last_login_at',
  'identities',
  'updated_at',
);

/** The expression of the search index. */
const SEARCHABLE = 'identity.searchable_user(email, display_name, preferred_username)';

/** A `locked` user may try again later, or after an administrator has unlocked them. */
const shown = ({ locked_until: lockedUntil, ...row }: RowOf<typeof LISTED>, now: Date) => ({
  ...row,
  status: row.status === 'active' && now < (lockedUntil ?? now) ? ('locked' as const) : row.status,
  email: row.email ?? '',
  created_at: row.created_at.toISOString(),
  last_login_at: row.last_login_at?.toISOString() ?? null,
  updated_at: row.updated_at.toISOString(),
});

export type AdminUser = ReturnType<typeof shown>;

export async function findUser(
  database: Database,
  { tenantId, id, now }: { readonly tenantId: string; readonly id: string; readonly now: Date },
): Promise<AdminUser | undefined> {
  const { rows } = await database
    .tenant(tenantId)
    .query<RowOf<typeof LISTED>>(
      `SELECT ${LISTED.columns} FROM identity.users WHERE tenant_id = $1 AND id = $2`,
      [tenantId, id],
    );
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

type Page = PageOfRows<AdminUser>;

export const listUsers = (database: Database, list: UserList): Promise<Page> =>
  list.search === undefined ? listed(database, list) : foundUsers(database, list);

async function listed(database: Database, list: UserList): Promise<Page> {
  const { where, values } = filterOf(list);
  const { rows, total } = await pageOfTenant(database, list.tenantId, {
    select: LISTED,
    from: 'identity.users',
    where,
    values,
    order: 'created_at DESC, id',
    offset: list.offset,
    limit: list.limit,
  });
  return { rows: rows.map((row) => shown(row, list.now)), total };
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
  const { rows } = await database.tenant(list.tenantId).query<RowOf<typeof LISTED>>(
    `SELECT ${LISTED.columns} FROM identity.users WHERE tenant_id = $1 AND id = ANY($2)
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
  const { rows } = await database.tenant(tenantId).query<RowOf<typeof LISTED>>(
    `SELECT ${LISTED.columns} FROM identity.users
     WHERE tenant_id = $1 AND created_at <= $2 AND (created_at < $2 OR id > $3)
     ORDER BY created_at DESC, id LIMIT $4`,
    [tenantId, after?.created_at ?? now, after?.id ?? '', limit],
  );
  return rows.map((row) => shown(row, now));
}
