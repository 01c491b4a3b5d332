/** Vault's own copies of identity's facts, each with the position of its event. */
import { computed, type Database, orNull, type RowOf } from '@cardea/read-models';
import type { AgentCopy } from '@cardea/service';
import { agents, sessionRows, users } from './copies.ts';

const SESSION = sessionRows.select('agent_id', 'user_id', 'epoch', 'expires_at', 'ended_at');
const AGENT = agents.select('services', 'changed_at', 'owner_user_id', 'position');

export type StoredSession = RowOf<typeof SESSION>;
export type StoredAgent = {
  readonly services: AgentCopy['services'];
  /** `now`: identity itself has just returned it. */
  readonly changed_at: Date | 'now';
  /** Undefined if the row is older than the recording of owners. */
  readonly owner_user_id: string | null | undefined;
};

export type SessionFacts = {
  readonly session: StoredSession | undefined;
  /** The epoch of the session that the token names. */
  readonly tokenEpoch: number | undefined;
};
export type AgentFacts = {
  readonly agent: StoredAgent | undefined;
  /** The status of the session's user. Undefined if unknown, or if there is none. */
  readonly userStatus: string | undefined;
};
export type Facts = SessionFacts & AgentFacts;

export type IdentityFactsRequest = {
  readonly tenantId: string;
  readonly sessionId: string;
  readonly tokenSessionId: string;
  readonly agentId: string;
  readonly userId: string | null;
};

/** Every table is joined by a LEFT JOIN, so what is missing is null. */
const FACTS = SESSION.of('s')
  .joined()
  .and(computed('session_position', 's.position', orNull('bigint')))
  .and(computed('token_epoch', 't.epoch', orNull('integer')))
  .and(AGENT.of('a').joined())
  .and(users.select('status').of('u').joined());
type Joined = RowOf<typeof FACTS>;

export async function readSessionRows(
  database: Database,
  asked: IdentityFactsRequest,
): Promise<{
  readonly facts: Facts;
  readonly agentPosition: bigint;
  readonly sessionPosition: bigint;
}> {
  const { rows } = await database.tenant(asked.tenantId).query<Joined>(
    {
      name: 'vault_session_facts',
      text: `SELECT ${FACTS.columns}
       FROM (SELECT $1::text AS tenant_id) one
       LEFT JOIN vault.agent_sessions s ON s.tenant_id = one.tenant_id AND s.session_id = $2
       LEFT JOIN vault.agent_sessions t ON t.tenant_id = one.tenant_id AND t.session_id = $3
       LEFT JOIN vault.agents a ON a.tenant_id = one.tenant_id AND a.agent_id = $4
       LEFT JOIN vault.users u ON u.tenant_id = one.tenant_id AND u.user_id = $5`,
    },
    [asked.tenantId, asked.sessionId, asked.tokenSessionId, asked.agentId, asked.userId],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('a query that always has a row had none');
  return {
    facts: {
      session: sessionOf(row),
      tokenEpoch: row.token_epoch ?? undefined,
      agent: agentOf(row),
      userStatus: row.status ?? undefined,
    },
    agentPosition: BigInt(row.position ?? 0),
    sessionPosition: BigInt(row.session_position ?? 0),
  };
}

const sessionOf = ({
  agent_id,
  user_id,
  epoch,
  expires_at,
  ended_at,
}: Joined): StoredSession | undefined =>
  agent_id === null || epoch === null || expires_at === null
    ? undefined
    : { agent_id, user_id, epoch, expires_at, ended_at };

const agentOf = ({
  services,
  changed_at,
  owner_user_id,
  position,
}: Joined): StoredAgent | undefined =>
  services === null || changed_at === null
    ? undefined
    : { services, changed_at, owner_user_id: position === '0' ? undefined : owner_user_id };

/** Whether agents of the tenant may request access. They may until identity publishes otherwise. */
export async function mayAskForAccess(database: Database, tenantId: string): Promise<boolean> {
  const { rows } = await database.tenant(tenantId).query<{ readonly agent_access: boolean }>(
    {
      name: 'vault_agent_access',
      text: 'SELECT agent_access FROM vault.tenants WHERE tenant_id = $1',
    },
    [tenantId],
  );
  return rows[0]?.agent_access ?? true;
}
