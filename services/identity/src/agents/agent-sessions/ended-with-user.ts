/** Finds agent sessions that ended with their user or login. A policy records the end of each. */
import type { Database, RowOf } from '@cardea/read-models';
import type { User } from '../../accounts/accounts.module.ts';
import { agentSessionRows } from './agent-sessions.projection.ts';
import { endedByUser, type OnBehalf } from './basis.ts';

const SESSIONS_MAX = 10_000;

const OPEN = agentSessionRows.select(
  'id',
  'via',
  'user_id',
  'user_epoch',
  'subject_sid',
  'created_at',
);

/** `user` is the current state: the epoch has risen, or the account was closed. */
export async function agentSessionsEndedByUser(
  database: Pick<Database, 'tenant'>,
  of: { readonly tenantId: string; readonly id: string },
  user: User,
): Promise<readonly string[]> {
  const rows = await openRows(database, of.tenantId, { column: 'user_id', id: of.id });
  const ended = rows.filter((row) => {
    const session: OnBehalf = { ...row, created_at: row.created_at.toISOString() };
    return endedByUser(session, user) !== undefined;
  });
  return ended.map(({ id }) => id);
}

export async function agentSessionsOfLogin(
  database: Pick<Database, 'tenant'>,
  { tenantId, sid }: { readonly tenantId: string; readonly sid: string },
): Promise<readonly string[]> {
  const rows = await openRows(database, tenantId, { column: 'subject_sid', id: sid });
  return rows.map(({ id }) => id);
}

async function openRows(
  database: Pick<Database, 'tenant'>,
  tenantId: string,
  of: { readonly column: 'user_id' | 'subject_sid'; readonly id: string },
): Promise<readonly RowOf<typeof OPEN>[]> {
  const { rows } = await database.tenant(tenantId).query<RowOf<typeof OPEN>>(
    `SELECT ${OPEN.columns} FROM identity.agent_sessions
       WHERE tenant_id = $1 AND ${of.column} = $2 AND ended_at IS NULL LIMIT $3`,
    [tenantId, of.id, SESSIONS_MAX],
  );
  return rows;
}
