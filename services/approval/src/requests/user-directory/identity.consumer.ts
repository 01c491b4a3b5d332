/**
 * Keeps users, agents and tenants as identity tells of them, and ends the requests of whoever is gone:
 * nobody is left to decide them, or to use what was decided.
 */
import { type IntegrationEvent, identityEvents, topicOf } from '@cardea/contracts';
import type { Consumer } from '@cardea/event-bus';
import { DatabaseUnavailable, type Transaction } from '@cardea/read-models';
import type { ServiceNeeds } from '@cardea/service';
import type { Changes } from '../approval-requests/changes.ts';
import { endRequest } from '../approval-requests/reading.ts';
import { type ExpiryCause, subjectOf } from '../approval-requests/request.ts';
import { cleaned } from '../sanitize-text.ts';

type ConsumerDependencies = Pick<
  ServiceNeeds,
  'database' | 'positions' | 'sealer' | 'store' | 'streams' | 'systemCommand'
> & { readonly changes: Changes };

const CATCH_UP_MS = 30_000;
const PAGE_ROWS = 256;

export const identityConsumer = (needs: ConsumerDependencies): Consumer => ({
  name: 'approval',
  topics: [topicOf('identity')],
  types: [
    'user.created',
    'user.updated',
    'user.status_changed',
    'user.email_verified',
    'user.deleted',
    'tenant.created',
    'tenant.updated',
    'tenant.deleted',
    'agent.created',
    'agent.updated',
    'agent.suspended',
    'agent.resumed',
    'agent.deleted',
    'agent_session.ended',
  ],
  prepare: async (events) => {
    for (const event of events) {
      await endWhatIsOrphaned(needs, event);
      const gone = identityEvents.dataOf(event, 'user.deleted');
      if (gone !== undefined) await needs.sealer.erase(subjectOf(event.tenantId, gone.id));
    }
  },
  handle: async (events, sql) => {
    for (const event of events) {
      await keepUser(event, sql);
      await keepAgent(event, sql);
      await keepTenant(event, sql);
    }
  },
});

async function keepUser(event: IntegrationEvent, sql: Transaction): Promise<void> {
  const user =
    identityEvents.dataOf(event, 'user.created') ??
    identityEvents.dataOf(event, 'user.updated') ??
    identityEvents.dataOf(event, 'user.status_changed') ??
    identityEvents.dataOf(event, 'user.email_verified');
  if (user !== undefined) {
    await sql.query(
      // Events of before do not say who is vouched for; then what is known stays.
      `INSERT INTO approval.users AS u
         (tenant_id, user_id, email, display_name, status, vouched, position)
       VALUES ($1, $2, $3, $4, $5, coalesce($6::boolean, false), $7)
       ON CONFLICT (tenant_id, user_id) DO UPDATE SET
         email = excluded.email, display_name = excluded.display_name, status = excluded.status,
         vouched = coalesce($6::boolean, u.vouched), position = excluded.position`,
      [
        event.tenantId,
        user.id,
        user.email,
        user.display_name,
        user.status,
        user.vouched ?? null,
        event.position,
      ],
    );
  }
  const gone = identityEvents.dataOf(event, 'user.deleted');
  if (gone !== undefined) {
    await sql.query('DELETE FROM approval.users WHERE tenant_id = $1 AND user_id = $2', [
      event.tenantId,
      gone.id,
    ]);
  }
}

async function keepAgent(event: IntegrationEvent, sql: Transaction): Promise<void> {
  const agent =
    identityEvents.dataOf(event, 'agent.created') ??
    identityEvents.dataOf(event, 'agent.updated') ??
    identityEvents.dataOf(event, 'agent.suspended') ??
    identityEvents.dataOf(event, 'agent.resumed');
  if (agent !== undefined) {
    await sql.query(
      `INSERT INTO approval.agents (tenant_id, agent_id, name, owner_user_id, status)
       VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (tenant_id, agent_id) DO UPDATE SET
         name = excluded.name, owner_user_id = excluded.owner_user_id, status = excluded.status`,
      // A name stands in mail headers and on pages: nothing unseen may be in it.
      [
        event.tenantId,
        agent.id,
        cleaned(agent.name) || agent.id,
        agent.owner_user_id,
        agent.status,
      ],
    );
  }
  const gone = identityEvents.dataOf(event, 'agent.deleted');
  if (gone !== undefined) {
    // The row stays, so that nobody can ask in the name of an agent that is gone.
    await sql.query(
      `UPDATE approval.agents SET status = 'deleted' WHERE tenant_id = $1 AND agent_id = $2`,
      [event.tenantId, gone.id],
    );
  }
}

async function keepTenant(event: IntegrationEvent, sql: Transaction): Promise<void> {
  const tenant =
    identityEvents.dataOf(event, 'tenant.created') ??
    identityEvents.dataOf(event, 'tenant.updated');
  if (tenant !== undefined) {
    await sql.query(
      `INSERT INTO approval.tenants (tenant_id, channels) VALUES ($1, $2::text[])
       ON CONFLICT (tenant_id) DO UPDATE SET channels = excluded.channels`,
      [tenant.id, tenant.approval_channels],
    );
  }
  const gone = identityEvents.dataOf(event, 'tenant.deleted');
  if (gone === undefined) return;
  for (const table of ['users', 'agents', 'tenants']) {
    await sql.query(`DELETE FROM approval.${table} WHERE tenant_id = $1`, [gone.id]);
  }
}

type Orphans = { readonly where: string; readonly id: string; readonly cause: ExpiryCause };

/** Which pending requests an event leaves without anybody, as SQL over the tenant's requests. */
function orphanedBy(event: IntegrationEvent): Orphans | undefined {
  const user = identityEvents.dataOf(event, 'user.deleted');
  if (user !== undefined) return { where: 'user_id = $2', id: user.id, cause: 'user' };
  const changed = identityEvents.dataOf(event, 'user.status_changed');
  if (changed?.status === 'disabled')
    return { where: 'user_id = $2', id: changed.id, cause: 'user' };
  const agent = identityEvents.dataOf(event, 'agent.deleted');
  if (agent !== undefined) return { where: 'agent_id = $2', id: agent.id, cause: 'agent' };
  const session = identityEvents.dataOf(event, 'agent_session.ended');
  if (session === undefined) return undefined;
  return { where: `binding->>'session_id' = $2`, id: session.id, cause: 'session' };
}

async function endWhatIsOrphaned(
  needs: ConsumerDependencies,
  event: IntegrationEvent,
): Promise<void> {
  const orphans = orphanedBy(event);
  if (orphans === undefined) return;
  const head = await needs.store.head('approval');
  if (!(await needs.positions.reached(['requests'], head, CATCH_UP_MS))) {
    throw new DatabaseUnavailable('the table of requests is behind its log');
  }
  const { tenantId } = event;
  let after = '';
  for (;;) {
    const { rows } = await needs.database.system.query<{ id: string }>(
      `SELECT id FROM approval.requests
       WHERE tenant_id = $1 AND ${orphans.where} AND status = 'pending' AND id > $3
       ORDER BY id LIMIT ${PAGE_ROWS}`,
      [tenantId, orphans.id, after],
    );
    for (const { id } of rows) await endRequest(needs, { tenantId, id, cause: orphans.cause });
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE_ROWS) return;
    after = last.id;
  }
}
