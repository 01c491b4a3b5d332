/**
 * Agent sessions whose user ended what they rest on: their tokens are refused everywhere from here on.
 * That they have ended is said by a policy, a moment later.
 */

import type { ServiceNeeds } from '@cardea/service';
import type { ExistingUser } from '../../accounts/accounts.module.ts';
import type { AgentSessionFacts } from './agent-session.ts';
import { endedByUser, type OnBehalf } from './basis.ts';

type Needs = Pick<ServiceNeeds, 'database' | 'positions' | 'revocations'>;

/** Sessions that were started before are in the table by then. */
const TABLE_WAIT_MS = 2_000;
const SESSIONS_MAX = 10_000;

type At = { readonly tenantId: string; readonly position: bigint | undefined };
type Row = {
  readonly id: string;
  readonly via: AgentSessionFacts['via'];
  readonly user_id: string;
  readonly user_epoch: number | null;
  readonly subject_sid: string | null;
  readonly created_at: Date;
};

/** The user's epoch has risen. */
export async function revokeAgentSessionsOf(
  needs: Needs,
  user: ExistingUser,
  at: At,
): Promise<void> {
  const rows = await openRows(needs, at, { column: 'user_id', id: user.id });
  const ended = rows.filter((row) => {
    const session: OnBehalf = { ...row, created_at: row.created_at.toISOString() };
    return endedByUser(session, user) !== undefined;
  });
  await needs.revocations.mark(
    'asid',
    ended.map(({ id }) => id),
  );
}

/** A login session has ended by itself. */
export async function revokeAgentSessionsBy(needs: Needs, sid: string, at: At): Promise<void> {
  const rows = await openRows(needs, at, { column: 'subject_sid', id: sid });
  await needs.revocations.mark(
    'asid',
    rows.map(({ id }) => id),
  );
}

async function openRows(
  { database, positions }: Pick<Needs, 'database' | 'positions'>,
  { tenantId, position }: At,
  of: { readonly column: 'user_id' | 'subject_sid'; readonly id: string },
): Promise<readonly Row[]> {
  if (position === undefined) return [];
  await positions.reached(['agent_sessions'], position, TABLE_WAIT_MS);
  const { rows } = await database.asTenant(tenantId, (sql) =>
    sql.query<Row>(
      `SELECT id, via, user_id, user_epoch, subject_sid, created_at FROM identity.agent_sessions
       WHERE tenant_id = $1 AND ${of.column} = $2 AND ended_at IS NULL LIMIT $3`,
      [tenantId, of.id, SESSIONS_MAX],
    ),
  );
  return rows;
}
