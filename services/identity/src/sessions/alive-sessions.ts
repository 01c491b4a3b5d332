/** Reads the live sessions of a user from the table: one page, newest first, and their total number. */
import { type Database, type PageOfRows, pageOfTenant, type RowOf } from '@cardea/read-models';
import { sessionRows } from './sessions.projection.ts';

const ALIVE_SESSION = sessionRows
  .select(
    'id',
    'client_id',
    'ip_address',
    'user_agent',
    'browser',
    'browser_version',
    'os',
    'os_version',
    'device_type',
    'started_at',
    'last_active_at',
    'expires_at',
  )
  .of('s');
export type AliveSession = RowOf<typeof ALIVE_SESSION>;

/** The most sessions of one user that one event ends. */
const ENDED_MAX = 10_000;
/** The most sessions that are ended after one sign-in. The rest is ended after the next one. */
const BEYOND_MAX = 100;

const SESSIONS = 'identity.sessions s JOIN identity.users u ON u.id = s.user_id';
/** Parameters: tenant, user, time. */
const IS_ALIVE = `s.tenant_id = $1 AND s.user_id = $2 AND s.revoked_at IS NULL AND s.expires_at > $3
         AND u.status = 'active' AND (s.user_epoch = u.epoch OR s.id = u.keep_sid)
         AND (s.consent_id IS NULL OR EXISTS (
           SELECT FROM identity.consents c LEFT JOIN identity.applications a ON a.id = c.client_id
           WHERE c.id = s.consent_id AND c.epoch = s.consent_epoch AND c.revoked_at IS NULL
             AND a.deleted_at IS NULL))`;
const ALIVE = `FROM ${SESSIONS} WHERE ${IS_ALIVE}`;
const NEWEST_FIRST = 's.last_active_at DESC, s.id DESC';

type SessionsOf = { readonly tenantId: string; readonly userId: string; readonly now: Date };

export const pageOfAliveSessions = (
  database: Pick<Database, 'asTenantAtOnce'>,
  of: SessionsOf & {
    readonly offset: number;
    /** Null means no limit. */
    readonly limit: number | null;
  },
): Promise<PageOfRows<AliveSession>> =>
  pageOfTenant(database, of.tenantId, {
    name: 'identity_page_of_alive_sessions',
    select: ALIVE_SESSION,
    from: SESSIONS,
    where: IS_ALIVE,
    values: [of.tenantId, of.userId, of.now],
    order: NEWEST_FIRST,
    offset: of.offset,
    limit: of.limit,
  });

/** The most recently used sessions, without their number. */
export async function aliveSessions(
  database: Pick<Database, 'tenant'>,
  of: SessionsOf & { readonly limit: number },
): Promise<readonly AliveSession[]> {
  const { rows } = await database.tenant(of.tenantId).query<AliveSession>(
    {
      name: 'identity_alive_sessions',
      text: `SELECT ${ALIVE_SESSION.columns} ${ALIVE} ORDER BY ${NEWEST_FIRST} LIMIT $4`,
    },
    [of.tenantId, of.userId, of.now, of.limit],
  );
  return rows;
}

/** One batch of the sessions beyond the `kept` most recently used ones. */
export async function sessionsBeyond(
  database: Pick<Database, 'tenant'>,
  { tenantId, userId, now, kept }: SessionsOf & { readonly kept: number },
): Promise<readonly string[]> {
  const { rows } = await database.tenant(tenantId).query<{ id: string }>(
    {
      name: 'identity_sessions_beyond',
      text: `SELECT s.id ${ALIVE} ORDER BY ${NEWEST_FIRST} OFFSET $4 LIMIT $5`,
    },
    [tenantId, userId, now, kept, BEYOND_MAX],
  );
  return rows.map(({ id }) => id);
}

/** The number of all live sessions, and the number without `sid`. */
export async function countAliveSessions(
  database: Pick<Database, 'tenant'>,
  of: SessionsOf & { readonly sid?: string | null },
): Promise<{ readonly all: number; readonly others: number }> {
  const { rows } = await database.tenant(of.tenantId).query<{ all: number; others: number }>(
    {
      name: 'identity_count_alive_sessions',
      text: `SELECT count(*)::integer AS all,
         count(*) FILTER (WHERE s.id IS DISTINCT FROM $4)::integer AS others ${ALIVE}`,
    },
    [of.tenantId, of.userId, of.now, of.sid ?? null],
  );
  return rows[0] ?? { all: 0, others: 0 };
}

/**
 * Sessions that began in an earlier epoch of their user, except the one that is kept. If no epoch is given, all
 * sessions.
 */
export async function endedLogins(
  database: Pick<Database, 'tenant'>,
  of: {
    readonly tenantId: string;
    readonly userId: string;
    readonly epoch: number | null;
    readonly keep: string | null;
    readonly now: Date;
  },
): Promise<readonly string[]> {
  const { rows } = await database.tenant(of.tenantId).query<{ id: string }>(
    `SELECT id FROM identity.sessions
       WHERE tenant_id = $1 AND user_id = $2 AND revoked_at IS NULL AND expires_at > $3
         AND ($4::integer IS NULL OR user_epoch < $4) AND id IS DISTINCT FROM $5
       ORDER BY last_active_at DESC, id DESC LIMIT $6`,
    [of.tenantId, of.userId, of.now, of.epoch, of.keep, ENDED_MAX],
  );
  return rows.map(({ id }) => id);
}
