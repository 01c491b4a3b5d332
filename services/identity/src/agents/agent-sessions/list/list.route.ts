/** Lists agent sessions for their agent, their user and administrators. It shows no tokens. */
import { named, PAGE_SIZE_DEFAULT, pageAnswer, pageQuery } from '@cardea/contracts';
import { type Endpoint, endpoint } from '@cardea/http';
import { type Database, pageOfTenant } from '@cardea/read-models';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { closed } from '../../../http/answers.ts';
import { agentSessions } from '../agent-session.ts';
import { agentSessionRows } from '../agent-sessions.projection.ts';
import { PATH, SessionId, SessionShape, Status, shown } from '../session-shape.ts';
import { READERS, sees, type Visibility, visibilityOf } from '../visibility.ts';

type Dependencies = Pick<ServiceDependencies, 'clock' | 'database' | 'streams'>;

export const listAgentSessionsRoute = ({
  database,
  clock,
}: Pick<Dependencies, 'clock' | 'database'>) =>
  endpoint(
    {
      tag: 'Agent sessions',
      name: 'list_agent_sessions',
      access: { class: 'things', applicationScope: 'account' },
      summary: 'List agent sessions',
      description:
        'Lists agent sessions: an agent sees its own, a user those for them, an administrator all of the tenant.',
      method: 'get',
      path: PATH,
      who: READERS,
      query: Type.Object({
        ...pageQuery,
        status: Type.Optional(Status),
        agent_id: Type.Optional(Type.String({ maxLength: 128 })),
        user_id: Type.Optional(Type.String({ maxLength: 128 })),
      }),
      ok: closed({
        data: named(
          'AgentSessionPage',
          closed({ sessions: Type.Array(SessionShape), ...pageAnswer }),
        ),
      }),
      refusals: {},
      consistency: { reads: ['agent_sessions'] },
    },
    async ({ tenantId, principal, query }) => {
      const {
        offset = 0,
        limit = PAGE_SIZE_DEFAULT,
        status,
        agent_id: agentId,
        user_id: userId,
      } = query;
      const now = clock.now();
      const list = {
        tenantId,
        offset,
        limit,
        status,
        agentId,
        userId,
        now,
        visibility: visibilityOf(principal),
      };
      const { rows, total } = await listSessions(database, list);
      const sessions = rows.map((row) => shown(row, now));
      return { ok: { data: { sessions, total, offset, limit } } };
    },
  );

export const getAgentSessionRoute = ({
  streams,
  clock,
}: Pick<Dependencies, 'clock' | 'streams'>): Endpoint =>
  endpoint(
    {
      tag: 'Agent sessions',
      name: 'get_agent_session',
      access: { class: 'things', applicationScope: 'account' },
      summary: 'One agent session',
      description: 'Shows one agent session to its agent, its user and administrators.',
      method: 'get',
      path: `${PATH}/{id}`,
      who: READERS,
      params: SessionId,
      ok: closed({ data: SessionShape }),
      refusals: { not_found: 404 },
    },
    async ({ tenantId, principal, params }) => {
      const { state } = await streams.load(agentSessions, { tenantId, id: params.id });
      if (state.status === 'none' || !sees(principal, state)) return { refused: 'not_found' };
      return { ok: { data: shown(state, clock.now()) } };
    },
  );

const LISTED = agentSessionRows.select(
  'id',
  'agent_id',
  'user_id',
  'services',
  'purpose',
  'created_at',
  'expires_at',
  'ended_at',
);

type SessionList = {
  readonly tenantId: string;
  readonly visibility: Visibility;
  readonly status: 'active' | 'ended' | undefined;
  readonly agentId: string | undefined;
  readonly userId: string | undefined;
  readonly now: Date;
  readonly offset: number;
  readonly limit: number;
};

async function listSessions(database: Database, list: SessionList) {
  const values: unknown[] = [list.tenantId];
  const next = (value: unknown) => `$${values.push(value)}`;
  const conditions = ['tenant_id = $1'];
  if (list.visibility !== 'all')
    conditions.push(`${list.visibility.column} = ${next(list.visibility.id)}`);
  if (list.agentId !== undefined) conditions.push(`agent_id = ${next(list.agentId)}`);
  if (list.userId !== undefined) conditions.push(`user_id = ${next(list.userId)}`);
  if (list.status !== undefined) {
    const open = `(ended_at IS NULL AND expires_at > ${next(list.now)})`;
    conditions.push(list.status === 'active' ? open : `NOT ${open}`);
  }
  const { rows, total } = await pageOfTenant(database, list.tenantId, {
    select: LISTED,
    from: 'identity.agent_sessions',
    where: conditions.join(' AND '),
    values,
    order: 'created_at DESC, id',
    offset: list.offset,
    limit: list.limit,
  });
  const sessions = rows.map((row) => ({
    ...row,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
  }));
  return { rows: sessions, total };
}
