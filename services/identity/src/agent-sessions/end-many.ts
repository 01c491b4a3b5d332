/** Ends every open session that something stood behind which is no more. */
import type { Database } from '@cardea/read-models';
import { uuidFrom } from '@cardea/runtime';
import type { Machines } from '../machines.ts';
import { agentSessions, type EndReason } from './agent-session.ts';
import { endAgentSession } from './end/end.ts';

const PAGE = 500;

export type OpenOf = {
  readonly tenantId: string;
  readonly agentId?: string;
  readonly userId?: string;
  readonly keyId?: string;
};

/** Ids above `after`, in order; a page of them. */
export async function openSessions(
  database: Pick<Database, 'asTenant'>,
  of: OpenOf,
  after = '',
): Promise<readonly string[]> {
  const { rows } = await database.asTenant(of.tenantId, (sql) =>
    sql.query<{ id: string }>(
      `SELECT id FROM identity.agent_sessions
       WHERE tenant_id = $1 AND ended_at IS NULL AND id > $2
         AND ($3::text IS NULL OR agent_id = $3) AND ($4::text IS NULL OR user_id = $4)
         AND ($5::text IS NULL OR key_id = $5)
       ORDER BY id LIMIT $6`,
      [of.tenantId, after, of.agentId ?? null, of.userId ?? null, of.keyId ?? null, PAGE],
    ),
  );
  return rows.map(({ id }) => id);
}

export async function endOpenSessions(
  machines: Machines,
  of: OpenOf,
  /** `cause` makes the same commands of the same event. */
  { reason, cause }: { readonly reason: EndReason; readonly cause: string },
): Promise<void> {
  let after = '';
  // Each turn moves on by a page, so it ends with the table.
  while (true) {
    const ids = await openSessions(machines.database, of, after);
    for (const id of ids) await endOne(machines, { tenantId: of.tenantId, id, reason, cause });
    const last = ids.at(-1);
    if (last === undefined || ids.length < PAGE) return;
    after = last;
  }
}

export async function endOne(
  machines: Machines,
  of: {
    readonly tenantId: string;
    readonly id: string;
    readonly reason: EndReason;
    readonly cause: string;
  },
): Promise<void> {
  const command = machines.systemCommand(
    of.tenantId,
    'end agent session',
    uuidFrom(of.cause, of.id),
  );
  const end = { reason: of.reason, now: command.now };
  const decided = await machines.streams.decideOn(agentSessions, of.id, command, (session) =>
    endAgentSession(end, session),
  );
  if (decided.accepted) await machines.revocations.mark('asid', [of.id]);
}
