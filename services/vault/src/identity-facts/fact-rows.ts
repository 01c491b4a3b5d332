/** Vault's own copies of identity's facts, each with the position of its event. */
import type { Database } from '@cardea/read-models';

export type SessionRow = {
  readonly agent_id: string;
  readonly user_id: string | null;
  readonly epoch: number;
  readonly expires_at: Date;
  readonly ended_at: Date | null;
};
export type AgentRow = {
  readonly services: readonly {
    readonly service_name: string;
    readonly fields: readonly string[];
    /** Set if an approval added the entry. The entry ends at this time. */
    readonly until?: string;
  }[];
  /** `now`: identity itself has just returned it. */
  readonly changed_at: Date | 'now';
  /** Undefined if the row is older than the recording of owners. */
  readonly owner_user_id: string | null | undefined;
};

export type SessionFacts = {
  readonly session: SessionRow | undefined;
  /** The epoch of the session that the token names. */
  readonly tokenEpoch: number | undefined;
};
export type AgentFacts = {
  readonly agent: AgentRow | undefined;
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

type Row = {
  readonly session: string | null;
  readonly session_agent: string;
  readonly session_user: string | null;
  readonly epoch: number;
  readonly expires_at: Date;
  readonly ended_at: Date | null;
  readonly session_position: string | null;
  readonly token_epoch: number | null;
  readonly services: AgentRow['services'] | null;
  readonly changed_at: Date;
  readonly owner_user_id: string | null;
  readonly agent_position: string | null;
  readonly user_status: string | null;
};

export async function readSessionRows(
  database: Database,
  asked: IdentityFactsRequest,
): Promise<{
  readonly facts: Facts;
  readonly agentPosition: bigint;
  readonly sessionPosition: bigint;
}> {
  const { rows } = await database.tenant(asked.tenantId).query<Row>(
    {
      name: 'vault_session_facts',
      text: `SELECT s.session_id AS session, s.agent_id AS session_agent, s.user_id AS session_user,
         s.epoch, s.expires_at, s.ended_at, s.position AS session_position,
         t.epoch AS token_epoch, a.services, a.changed_at, a.owner_user_id,
         a.position AS agent_position, u.status AS user_status
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
      session: row.session === null ? undefined : sessionOf(row),
      tokenEpoch: row.token_epoch ?? undefined,
      agent: row.services === null ? undefined : agentOf(row, row.services),
      userStatus: row.user_status ?? undefined,
    },
    agentPosition: BigInt(row.agent_position ?? 0),
    sessionPosition: BigInt(row.session_position ?? 0),
  };
}

const sessionOf = (row: Row): SessionRow => ({
  agent_id: row.session_agent,
  user_id: row.session_user,
  epoch: row.epoch,
  expires_at: row.expires_at,
  ended_at: row.ended_at,
});

const agentOf = (row: Row, services: AgentRow['services']): AgentRow => ({
  services,
  changed_at: row.changed_at,
  owner_user_id: row.agent_position === '0' ? undefined : row.owner_user_id,
});

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
