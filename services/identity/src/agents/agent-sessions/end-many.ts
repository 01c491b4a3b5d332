/** Ends open sessions when something that they depend on ends. */
import type { Database } from '@cardea/read-models';
import { uuidFrom } from '@cardea/runtime';
import { pagesOf, type ServiceDependencies } from '@cardea/service';
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
/** How long to wait until the table contains the sessions that were opened before the event. */
const CATCH_UP_MS = 10_000;

export type OpenOf = {
  readonly tenantId: string;
  readonly agentId?: string;
  readonly userId?: string;
  readonly keyId?: string;
  readonly subjectSid?: string;
};

/** One page of ids above `after`, in order. */
export async function openSessions(
  database: Pick<Database, 'tenant'>,
  of: OpenOf,
  after = '',
): Promise<readonly string[]> {
  const { rows } = await database.tenant(of.tenantId).query<{ id: string }>(
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
  );
  return rows.map(({ id }) => id);
}

type Ending = {
  /** Why the sessions end. If undefined, only the sessions that their user has ended are recorded as ended. */
  readonly reason: EndReason | undefined;
  /** The commands are derived from it, so the same event always leads to the same commands. */
  readonly cause: string;
  readonly position: bigint;
};

/**
 * Ends a page in one batch. After an interruption a repeat ends the same sessions, and revokes the tokens of those that
 * had ended.
 */
export async function endOpenSessions(
  needs: Dependencies & Pick<ServiceDependencies, 'positions'>,
  of: OpenOf,
  { reason, cause, position }: Ending,
): Promise<void> {
  const pages = pagesOf(needs, {
    projections: ['agent_sessions'],
    position,
    waitMs: CATCH_UP_MS,
    pageRows: PAGE,
    page: (after) => openSessions(needs.database, of, after),
    keyOf: (id) => id,
    firstKey: '',
  });
  for await (const ids of pages) {
    const all = ids.map((id) => ({ tenantId: of.tenantId, id, cause }));
    const over =
      reason === undefined ? await overOf(needs, all) : all.map((one) => ({ ...one, reason }));
    await endAll(needs, over);
  }
}

type One = { readonly tenantId: string; readonly id: string; readonly cause: string };

type Over = One & { readonly reason: EndReason };

/** Ends a session whose user has ended what it depends on. Other sessions continue. */
export const endIfOver = async (needs: Dependencies, of: One): Promise<void> =>
  endAll(needs, await overOf(needs, [of]));

async function overOf(needs: Dependencies, all: readonly One[]): Promise<readonly Over[]> {
  const over = all.map(async (one) => {
    const { state } = await needs.streams.load(agentSessions, one);
    if (state.status === 'none') return [];
    const at = { tenantId: one.tenantId, now: needs.clock.now() };
    const reason = await whyEnded(needs, state, at);
    return reason === undefined ? [] : [{ ...one, reason }];
  });
  return (await Promise.all(over)).flat();
}

export const endOne = (
  needs: Pick<Dependencies, 'streams' | 'systemCommand'>,
  of: Over,
): Promise<void> => endAll(needs, [of]);

async function endAll(
  { streams, systemCommand }: Pick<Dependencies, 'streams' | 'systemCommand'>,
  all: readonly Over[],
): Promise<void> {
  if (all.length === 0) return;
  await streams.decideOnMany(
    agentSessions,
    all.map(({ tenantId, id, cause, reason }) => {
      const command = systemCommand(tenantId, 'end agent session', uuidFrom(cause, id));
      const end = { reason, now: command.now };
      return { id, command, decide: (session) => endAgentSession(end, session) };
    }),
  );
}
