/** Ends open sessions when something that they rested on is gone. */
import type { Database } from '@cardea/read-models';
import { uuidFrom } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import type { UserDirectory } from '../../accounts/accounts.module.ts';
import { agentSessions, type EndReason } from './agent-session.ts';
import { whyEnded } from './basis.ts';
import { endAgentSession } from './end/end.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'clock' | 'database' | 'streams' | 'systemCommand'
> & {
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
};

const PAGE = 500;

export type OpenOf = {
  readonly tenantId: string;
  readonly agentId?: string;
  readonly userId?: string;
  readonly keyId?: string;
  readonly subjectSid?: string;
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
         AND ($5::text IS NULL OR key_id = $5) AND ($6::text IS NULL OR subject_sid = $6)
       ORDER BY id LIMIT $7`,
      [
        of.tenantId,
        after,
        of.agentId ?? null,
        of.userId ?? null,
        of.keyId ?? null,
        of.subjectSid ?? null,
        PAGE,
      ],
    ),
  );
  return rows.map(({ id }) => id);
}

export async function endOpenSessions(
  needs: Dependencies,
  of: OpenOf,
  /** `cause` makes the same commands of the same event. Without a reason, those that their user has ended. */
  { reason, cause }: { readonly reason: EndReason | undefined; readonly cause: string },
): Promise<void> {
  let after = '';
  // Each turn moves on by a page, so it ends with the table.
  while (true) {
    const ids = await openSessions(needs.database, of, after);
    for (const id of ids) {
      const one = { tenantId: of.tenantId, id, cause };
      if (reason === undefined) await endIfOver(needs, one);
      else await endOne(needs, { ...one, reason });
    }
    const last = ids.at(-1);
    if (last === undefined || ids.length < PAGE) return;
    after = last;
  }
}

type One = { readonly tenantId: string; readonly id: string; readonly cause: string };

/** Ends a session whose user has ended what it rests on; any other goes on. */
export async function endIfOver(needs: Dependencies, of: One): Promise<void> {
  const { state } = await needs.streams.load(agentSessions, of);
  if (state.status === 'none') return;
  const at = { tenantId: of.tenantId, now: needs.clock.now() };
  const reason = await whyEnded(needs, state, at);
  if (reason !== undefined) await endOne(needs, { ...of, reason });
}

export async function endOne(
  needs: Pick<Dependencies, 'streams' | 'systemCommand'>,
  of: One & { readonly reason: EndReason },
): Promise<void> {
  const command = needs.systemCommand(of.tenantId, 'end agent session', uuidFrom(of.cause, of.id));
  const end = { reason: of.reason, now: command.now };
  await needs.streams.decideOn(agentSessions, of.id, command, (session) =>
    endAgentSession(end, session),
  );
}
