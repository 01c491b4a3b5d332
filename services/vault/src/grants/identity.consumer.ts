/**
 * What vault takes from the topics of identity and approval: sessions, agents and users as they stand,
 * who approved what; and the grants that end with them.
 */
import { approvalEvents, type IntegrationEvent, identityEvents, topicOf } from '@cardea/contracts';
import type { Consumer } from '@cardea/event-bus';
import type { Queryable } from '@cardea/read-models';
import type { Vault } from '../vault.ts';
import { endGrants } from './end-grants.ts';

const TYPES = [
  'agent.created',
  'agent.updated',
  'agent.suspended',
  'agent.resumed',
  'agent.deleted',
  'agent_session.started',
  'agent_session.renewed',
  'agent_session.ended',
  'delegation.withdrawn',
  'user.created',
  'user.updated',
  'user.status_changed',
  'user.deleted',
  'tenant.deleted',
  'approval.approved',
  'approval.denied',
] as const;

type Where = Parameters<typeof endGrants>[1]['where'];
type Ended = { readonly cause: string; readonly where: Where };

export const hearOthers = (
  vault: Vault,
  onTenantDeleted: (tenantId: string, eventId: string) => Promise<void>,
): Consumer => ({
  name: 'vault',
  topics: [topicOf('identity'), topicOf('approval')],
  types: TYPES,
  prepare: async (events) => {
    for (const event of events) {
      const ended = endedBy(event);
      if (ended !== undefined) {
        await endGrants(vault, { ...ended, tenantId: event.tenantId, eventId: event.id });
      }
      if (event.type === 'tenant.deleted') await onTenantDeleted(event.tenantId, event.id);
    }
  },
  handle: async (events, sql) => {
    for (const event of events) await keep(sql, event);
  },
  onCommitted: () => vault.facts.forget(),
});

/** The grants that end with what happened; undefined where none does. */
function endedBy(event: IntegrationEvent): Ended | undefined {
  const session = identityEvents.dataOf(event, 'agent_session.ended');
  if (session !== undefined) return { cause: 'session_ended', where: { session_id: session.id } };
  const suspended = identityEvents.dataOf(event, 'agent.suspended');
  if (suspended !== undefined) {
    return { cause: 'agent_suspended', where: { agent_id: suspended.id } };
  }
  const deleted = identityEvents.dataOf(event, 'agent.deleted');
  if (deleted !== undefined) return { cause: 'agent_deleted', where: { agent_id: deleted.id } };
  const withdrawn = identityEvents.dataOf(event, 'delegation.withdrawn');
  if (withdrawn !== undefined) {
    const where = { agent_id: withdrawn.agent_id, user_id: withdrawn.user_id };
    return { cause: 'delegation_withdrawn', where };
  }
  const user = identityEvents.dataOf(event, 'user.status_changed');
  if (user?.status === 'disabled') return { cause: 'user_disabled', where: { user_id: user.id } };
  const gone = identityEvents.dataOf(event, 'user.deleted');
  if (gone !== undefined) return { cause: 'user_deleted', where: { user_id: gone.id } };
  return undefined;
}

async function keep(sql: Queryable, event: IntegrationEvent): Promise<void> {
  await keepAgent(sql, event);
  await keepSession(sql, event);
  await keepUser(sql, event);
  await keepAnswer(sql, event);
}

async function keepAgent(sql: Queryable, event: IntegrationEvent): Promise<void> {
  const data =
    identityEvents.dataOf(event, 'agent.created') ??
    identityEvents.dataOf(event, 'agent.updated') ??
    identityEvents.dataOf(event, 'agent.suspended') ??
    identityEvents.dataOf(event, 'agent.resumed');
  const { tenantId, time, position } = event;
  if (data !== undefined) {
    const services = JSON.stringify(data.services);
    await sql.query(
      `INSERT INTO vault.agents AS a
         (tenant_id, agent_id, services, status, changed_at, owner_user_id, position)
       VALUES ($1, $2, $3::jsonb, $4, $5, $6, $7)
       ON CONFLICT (tenant_id, agent_id) DO UPDATE SET services = excluded.services,
         status = excluded.status, owner_user_id = excluded.owner_user_id,
         position = excluded.position, changed_at = CASE WHEN a.services = excluded.services
           THEN a.changed_at ELSE excluded.changed_at END`,
      [tenantId, data.id, services, data.status, time, data.owner_user_id, position],
    );
  }
  const gone = identityEvents.dataOf(event, 'agent.deleted');
  if (gone === undefined) return;
  await sql.query(
    `UPDATE vault.agents SET status = 'deleted', services = '[]', changed_at = $3,
       owner_user_id = NULL, position = $4
     WHERE tenant_id = $1 AND agent_id = $2`,
    [tenantId, gone.id, time, position],
  );
}

async function keepSession(sql: Queryable, event: IntegrationEvent): Promise<void> {
  const ended = identityEvents.dataOf(event, 'agent_session.ended');
  const data =
    identityEvents.dataOf(event, 'agent_session.started') ??
    identityEvents.dataOf(event, 'agent_session.renewed') ??
    ended;
  if (data === undefined) return;
  await sql.query(
    `INSERT INTO vault.agent_sessions AS s
       (tenant_id, session_id, agent_id, user_id, epoch, expires_at, ended_at, position)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
     ON CONFLICT (tenant_id, session_id) DO UPDATE SET epoch = excluded.epoch,
       expires_at = excluded.expires_at, position = excluded.position, ended_at = coalesce(s.ended_at, excluded.ended_at)`,
    [
      event.tenantId,
      data.id,
      data.agent_id,
      data.user_id,
      data.epoch,
      data.expires_at,
      ended?.ended_at ?? null,
      event.position,
    ],
  );
}

async function keepUser(sql: Queryable, event: IntegrationEvent): Promise<void> {
  const data =
    identityEvents.dataOf(event, 'user.created') ??
    identityEvents.dataOf(event, 'user.updated') ??
    identityEvents.dataOf(event, 'user.status_changed');
  const gone = identityEvents.dataOf(event, 'user.deleted');
  const id = data?.id ?? gone?.id;
  if (id === undefined) return;
  // Events of before do not say who is vouched for; then what is known stays.
  const vouched = gone === undefined ? (data?.vouched ?? null) : false;
  await sql.query(
    `INSERT INTO vault.users AS u (tenant_id, user_id, status, vouched, position)
     VALUES ($1, $2, $3, coalesce($4::boolean, false), $5)
     ON CONFLICT (tenant_id, user_id) DO UPDATE SET status = excluded.status,
       vouched = coalesce($4::boolean, u.vouched), position = excluded.position`,
    [event.tenantId, id, data?.status ?? 'deleted', vouched, event.position],
  );
}

async function keepAnswer(sql: Queryable, event: IntegrationEvent): Promise<void> {
  const data =
    approvalEvents.dataOf(event, 'approval.approved') ??
    approvalEvents.dataOf(event, 'approval.denied');
  if (data === undefined) return;
  await sql.query(
    `INSERT INTO vault.approvals (tenant_id, approval_id, responded_by, responded_at)
     VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
    [event.tenantId, data.id, data.responded_by, data.responded_at],
  );
}
