/** A user ends everything that agents do for them: all delegations, and all sessions on the user's behalf. */
import type { Command } from '@cardea/event-store';
import { endpoint } from '@cardea/http';
import type { Database } from '@cardea/read-models';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { closed } from '../../../http/answers.ts';
import { agentSessions } from '../../agent-sessions/agent-session.ts';
import { endAgentSession } from '../../agent-sessions/end/end.ts';
import { openSessions } from '../../agent-sessions/end-many.ts';
import { delegations } from '../delegation.ts';
import { DELEGATIONS_PATH } from './delegate.route.ts';
import { withdrawDelegation } from './delegate.ts';

type Dependencies = Pick<ServiceDependencies, 'command' | 'database' | 'streams'>;

/** The number of delegations that are decided in one batch. */
const PAGE = 500;
/** A call ends at most this many pages of delegations and of sessions. The next call continues. */
const PAGES_MAX = 20;

export const withdrawAllDelegationsRoute = (needs: Dependencies) =>
  endpoint(
    {
      tag: 'Self-service',
      who: ['user'],
      tenant: 'optional',
      path: DELEGATIONS_PATH,
      name: 'withdraw_all_delegations',
      access: { class: 'settings', stepUp: 'none' },
      repeat: 'safe',
      summary: 'End all that agents do for me',
      description:
        'Takes back every delegation of the caller, and ends every agent session on their behalf, those that began with one of their tokens included. At most 10,000 of each a call; where there are more, call again until both numbers are 0.',
      method: 'delete',
      ok: closed({ withdrawn: Type.Integer(), ended: Type.Integer() }),
      refusals: {},
      consistency: {
        waitsFor: ['delegations', 'agent_sessions', 'revocations'],
        reads: ['delegations', 'agent_sessions'],
      },
    },
    async (request) => {
      const command = await needs.command(request);
      const of = { tenantId: request.tenantId, userId: request.principal.id, command };
      // Without a delegation no session can begin, so the sessions that are open after this step are the last ones.
      const withdrawn = await withdrawAll(needs, of);
      const ended = await endAll(needs, of);
      const wrote = latest([withdrawn.position, ended.position]);
      return { ok: { withdrawn: withdrawn.count, ended: ended.count }, wrote };
    },
  );

type Of = { readonly tenantId: string; readonly userId: string; readonly command: Command };
type Done = { readonly count: number; readonly position: bigint | undefined };

const withdrawAll = (
  { database, streams }: Dependencies,
  { tenantId, userId, command }: Of,
): Promise<Done> => {
  const withdrawal = { userId, now: command.now };
  return inPages({
    page: (after) => standingDelegations(database, { tenantId, userId, after }),
    decide: (ids) =>
      streams.decideOnMany(
        delegations,
        ids.map((id) => ({
          id,
          command,
          decide: (delegation) => withdrawDelegation(withdrawal, delegation),
        })),
      ),
  });
};

const endAll = (
  { database, streams }: Dependencies,
  { tenantId, userId, command }: Of,
): Promise<Done> => {
  const end = { reason: 'ended', now: command.now } as const;
  return inPages({
    page: (after) => openSessions(database, { tenantId, userId }, after),
    decide: (ids) =>
      streams.decideOnMany(
        agentSessions,
        ids.map((id) => ({ id, command, decide: (session) => endAgentSession(end, session) })),
      ),
  });
};

/** Counts what this call ended, without what had ended before. */
async function inPages(of: {
  readonly page: (after: string) => Promise<readonly string[]>;
  readonly decide: (
    ids: readonly string[],
  ) => Promise<readonly { readonly position: bigint | undefined }[]>;
}): Promise<Done> {
  const positions: bigint[] = [];
  let after = '';
  for (let turn = 0; turn < PAGES_MAX; turn += 1) {
    const ids = await of.page(after);
    const last = ids.at(-1);
    if (last === undefined) break;
    for (const { position } of await of.decide(ids)) {
      if (position !== undefined) positions.push(position);
    }
    after = last;
  }
  return { count: positions.length, position: latest(positions) };
}

const latest = (positions: readonly (bigint | undefined)[]): bigint | undefined =>
  positions.reduce(
    (one, other) => (one === undefined || (other !== undefined && other > one) ? other : one),
    undefined,
  );

/** Reads a page of ids in order, including delegations that have expired. */
async function standingDelegations(
  database: Pick<Database, 'tenant'>,
  of: { readonly tenantId: string; readonly userId: string; readonly after: string },
): Promise<readonly string[]> {
  const { rows } = await database.tenant(of.tenantId).query<{ id: string }>(
    `SELECT id FROM identity.delegations
       WHERE tenant_id = $1 AND user_id = $2 AND withdrawn_at IS NULL AND id > $3
       ORDER BY id LIMIT $4`,
    [of.tenantId, of.userId, of.after, PAGE],
  );
  return rows.map(({ id }) => id);
}
