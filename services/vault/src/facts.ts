/**
 * What vault has heard from identity: sessions of agents, what agents may reach, who is disabled. It may
 * be late, so a missing row proves nothing, and what would be refused for a row alone is read again.
 */
import type { Database } from '@cardea/read-models';
import type { Clock } from '@cardea/runtime';
import QuickLRU from 'quick-lru';
import type { Approver } from './policies/policy.ts';

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
  }[];
  readonly changed_at: Date;
};

export type Facts = {
  readonly session: SessionRow | undefined;
  /** Of the session that the token names. */
  readonly tokenEpoch: number | undefined;
  readonly agent: AgentRow | undefined;
  /** Of the session's user; undefined where unknown, or where there is none. */
  readonly userStatus: string | undefined;
};

export type Asked = {
  readonly tenantId: string;
  readonly sessionId: string;
  readonly tokenSessionId: string;
  readonly agentId: string;
  readonly userId: string | null;
};

export interface IdentityFacts {
  /** As remembered for a few seconds; `fresh` reads the tables. */
  read(asked: Asked, fresh?: boolean): Promise<Facts>;
  userStatus(tenantId: string, userId: string): Promise<string | undefined>;
  /** Asks again a while later, for the bus lags behind. */
  isKnownApprover(tenantId: string, approver: Approver): Promise<boolean>;
  /** Something new was heard in this process. */
  forget(): void;
}

/** Pauses before what rests on late rows alone is read again, from the first look on. */
export const REREAD_AFTER_MS = [200, 600] as const;
const REMEMBERED_MS = 5_000;
const REMEMBERED_MAX = 10_000;
const GONE = 'deleted';

export function identityFacts({
  database,
  clock,
}: {
  readonly database: Database;
  readonly clock: Clock;
}): IdentityFacts {
  type Held = { readonly facts: Facts; readonly atMs: number };
  const held = new QuickLRU<string, Held>({ maxSize: REMEMBERED_MAX });
  const userStatus = async (tenantId: string, userId: string): Promise<string | undefined> => {
    const { rows } = await database.asTenant(tenantId, (sql) =>
      sql.query<{ status: string }>(
        'SELECT status FROM vault.users WHERE tenant_id = $1 AND user_id = $2',
        [tenantId, userId],
      ),
    );
    return rows[0]?.status;
  };
  return {
    userStatus,
    read: async (asked, fresh = false) => {
      const key = JSON.stringify(Object.values(asked));
      const known = fresh ? undefined : held.get(key);
      if (known !== undefined && clock.monotonicMs() - known.atMs < REMEMBERED_MS) {
        return known.facts;
      }
      const atMs = clock.monotonicMs();
      const facts = await readFacts(database, asked);
      held.set(key, { facts, atMs });
      return facts;
    },
    isKnownApprover: async (tenantId, approver) => {
      if (approver === 'session_user') return true;
      const known = async () => {
        const status = await userStatus(tenantId, approver.user_id);
        return status !== undefined && status !== GONE;
      };
      for (const pauseMs of [0, ...REREAD_AFTER_MS]) {
        await clock.sleep(pauseMs);
        if (await known()) return true;
      }
      return false;
    },
    forget: () => held.clear(),
  };
}

type Row = {
  readonly session: string | null;
  readonly session_agent: string;
  readonly session_user: string | null;
  readonly epoch: number;
  readonly expires_at: Date;
  readonly ended_at: Date | null;
  readonly token_epoch: number | null;
  readonly services: AgentRow['services'] | null;
  readonly changed_at: Date;
  readonly user_status: string | null;
};

async function readFacts(database: Database, asked: Asked): Promise<Facts> {
  const { rows } = await database.asTenant(asked.tenantId, (sql) =>
    sql.query<Row>(
      `SELECT s.session_id AS session, s.agent_id AS session_agent, s.user_id AS session_user,
         s.epoch, s.expires_at, s.ended_at, t.epoch AS token_epoch, a.services, a.changed_at,
         u.status AS user_status
       FROM (SELECT $1::text AS tenant_id) one
       LEFT JOIN vault.agent_sessions s ON s.tenant_id = one.tenant_id AND s.session_id = $2
       LEFT JOIN vault.agent_sessions t ON t.tenant_id = one.tenant_id AND t.session_id = $3
       LEFT JOIN vault.agents a ON a.tenant_id = one.tenant_id AND a.agent_id = $4
       LEFT JOIN vault.users u ON u.tenant_id = one.tenant_id AND u.user_id = $5`,
      [asked.tenantId, asked.sessionId, asked.tokenSessionId, asked.agentId, asked.userId],
    ),
  );
  const [row] = rows;
  if (row === undefined) throw new Error('a query that always has a row had none');
  return {
    session: row.session === null ? undefined : sessionOf(row),
    tokenEpoch: row.token_epoch ?? undefined,
    agent:
      row.services === null ? undefined : { services: row.services, changed_at: row.changed_at },
    userStatus: row.user_status ?? undefined,
  };
}

const sessionOf = (row: Row): SessionRow => ({
  agent_id: row.session_agent,
  user_id: row.session_user,
  epoch: row.epoch,
  expires_at: row.expires_at,
  ended_at: row.ended_at,
});

/** A lock keeps a person from signing in; it ends nothing that runs. */
export const isDisabled = (status: string | undefined): boolean =>
  status === 'disabled' || status === GONE;
