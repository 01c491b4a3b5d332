/**
 * What vault takes from the topics of identity and approval: the state of sessions, agents and users, who
 * approved what, and which grants end as a result.
 */
import { approvalEvents, IDENTITY_AUDIT_ONLY, identityEvents } from '@cardea/contracts';
import { consumer, type Heard, type RowEffect, type RowWriter } from '@cardea/event-bus';
import { ignoring } from '@cardea/event-store';
import type { Statement } from '@cardea/read-models';
import { noteForgottenTenant, type ServiceDependencies } from '@cardea/service';
import type { Epochs } from '../epochs.ts';
import type { IdentityFacts } from '../identity-facts/identity-facts.ts';
import { endGrants, type RevokedGrants } from './end-grants.ts';

type ConsumerDependencies = Pick<
  ServiceDependencies,
  'store' | 'database' | 'positions' | 'streams' | 'systemCommand' | 'clock'
> & { readonly epochs: Epochs; readonly facts: IdentityFacts };

type Source = typeof identityEvents | typeof approvalEvents;
type Event<Type extends Heard<Source>['type']> = Heard<Source, Type>;

export const identityConsumer = (
  vault: ConsumerDependencies,
  onTenantDeleted: (tenantId: string, eventId: string) => Promise<void>,
) => {
  const end = (
    { tenantId, id: eventId }: { readonly tenantId: string; readonly id: string },
    cause: string,
    where: RevokedGrants['where'],
  ) => endGrants(vault, { tenantId, eventId, cause, where });
  return consumer({
    name: 'vault',
    from: [identityEvents, approvalEvents],
    on: {
      'agent.created': { apply: keepAgent },
      'agent.updated': { apply: keepAgent },
      'agent.resumed': { apply: keepAgent },
      'agent.suspended': {
        prepare: (event) => end(event, 'agent_suspended', { agent_id: event.data.id }),
        apply: keepAgent,
      },
      'agent.deleted': {
        prepare: (event) => end(event, 'agent_deleted', { agent_id: event.data.id }),
        apply: deleteAgent,
      },
      'agent_session.started': { apply: keepSession },
      'agent_session.renewed': { apply: keepSession },
      'agent_session.ended': {
        prepare: (event) => end(event, 'session_ended', { session_id: event.data.id }),
        apply: endSession,
      },
      'delegation.withdrawn': {
        prepare: (event) => {
          const { agent_id, user_id } = event.data;
          return end(event, 'delegation_withdrawn', { agent_id, user_id });
        },
      },
      'user.created': { apply: keepUser },
      'user.updated': { apply: keepUser },
      'user.status_changed': {
        prepare: async (event) => {
          const { id, status } = event.data;
          if (status === 'disabled') await end(event, 'user_disabled', { user_id: id });
        },
        apply: keepUser,
      },
      'user.deleted': {
        prepare: (event) => end(event, 'user_deleted', { user_id: event.data.id }),
        apply: keepUser,
      },
      'tenant.deleted': {
        prepare: async (event) => {
          await onTenantDeleted(event.tenantId, event.id);
          await noteForgottenTenant(vault, event);
        },
        apply: forgetRows,
      },
      'approval.approved': { apply: keepAnswer },
      'approval.denied': { apply: keepAnswer },
      ...NO_CONCERN,
    },
    onCommitted: (events) => vault.facts.applied(events),
  });
};

const NO_CONCERN = {
  ...ignoring('it concerns identity and the audit log alone', ...IDENTITY_AUDIT_ONLY),
  ...ignoring(
    'how a user signs in changes no grant',
    'user.login',
    'user.unlocked',
    'user.password_changed',
    'user.email_verified',
  ),
  ...ignoring(
    'grants do not depend on the settings of a tenant',
    'tenant.created',
    'tenant.updated',
  ),
  ...ignoring(
    'only an answer is kept',
    'approval.requested',
    'approval.given',
    'approval.expired',
    'approval.consumed',
    'approval.decision_refused',
    'approval.codes_blocked',
    'channel.created',
    'channel.changed',
    'channel.deleted',
  ),
};

function keepAgent(
  event: Event<'agent.created' | 'agent.updated' | 'agent.suspended' | 'agent.resumed'>,
): Statement {
  const { tenantId, time, position, data } = event;
  const services = JSON.stringify(data.services);
  return {
    name: 'vault_keep_agent',
    text: `INSERT INTO vault.agents AS a
       (tenant_id, agent_id, services, status, changed_at, owner_user_id, position)
     VALUES ($1, $2, $3::jsonb, $4, $5, $6, $7)
     ON CONFLICT (tenant_id, agent_id) DO UPDATE SET services = excluded.services,
       status = excluded.status, owner_user_id = excluded.owner_user_id,
       position = excluded.position, changed_at = CASE WHEN a.services = excluded.services
         THEN a.changed_at ELSE excluded.changed_at END`,
    values: [tenantId, data.id, services, data.status, time, data.owner_user_id, position],
  };
}

const forgetRows = ({ tenantId }: Event<'tenant.deleted'>): readonly Statement[] =>
  ['agents', 'agent_sessions', 'users', 'approvals'].map((table) => ({
    text: `DELETE FROM vault.${table} WHERE tenant_id = $1`,
    values: [tenantId],
  }));

function deleteAgent({ tenantId, time, position, data }: Event<'agent.deleted'>): Statement {
  return {
    name: 'vault_delete_agent',
    text: `UPDATE vault.agents SET status = 'deleted', services = '[]', changed_at = $3,
       owner_user_id = NULL, position = $4
     WHERE tenant_id = $1 AND agent_id = $2`,
    values: [tenantId, data.id, time, position],
  };
}

const KEEP_SESSIONS: RowWriter = {
  name: 'vault_keep_sessions',
  table: 'vault.agent_sessions',
  text: `INSERT INTO vault.agent_sessions AS s
       (tenant_id, session_id, agent_id, user_id, epoch, expires_at, position)
     SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[],
       $6::timestamptz[], $7::bigint[])
     ON CONFLICT (tenant_id, session_id) DO UPDATE SET epoch = excluded.epoch,
       expires_at = excluded.expires_at, position = excluded.position`,
};

function keepSession(event: Event<'agent_session.started' | 'agent_session.renewed'>): RowEffect {
  const { tenantId, position, data } = event;
  const { id, agent_id, user_id, epoch, expires_at } = data;
  return {
    write: KEEP_SESSIONS,
    key: [tenantId, id],
    row: [tenantId, id, agent_id, user_id, epoch, expires_at, position],
  };
}

const END_SESSIONS: RowWriter = {
  name: 'vault_end_sessions',
  table: 'vault.agent_sessions',
  text: `UPDATE vault.agent_sessions AS s SET epoch = e.epoch, expires_at = e.expires_at,
       ended_at = coalesce(s.ended_at, e.ended_at), position = e.position
     FROM unnest($1::text[], $2::text[], $3::int[], $4::timestamptz[], $5::timestamptz[],
       $6::bigint[]) AS e(tenant_id, session_id, epoch, expires_at, ended_at, position)
     WHERE s.tenant_id = e.tenant_id AND s.session_id = e.session_id`,
};

/** A session may end after its tenant was deleted, and its row is not to come back then. */
function endSession({ tenantId, position, data }: Event<'agent_session.ended'>): RowEffect {
  const { id, epoch, expires_at, ended_at } = data;
  return {
    write: END_SESSIONS,
    key: [tenantId, id],
    row: [tenantId, id, epoch, expires_at, ended_at, position],
  };
}

const keepingUsers = (name: string, columns: readonly string[]): RowWriter => ({
  name,
  table: 'vault.users',
  text: `INSERT INTO vault.users (tenant_id, user_id, status, vouched, position)
     SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::boolean[], $5::bigint[])
     ON CONFLICT (tenant_id, user_id) DO UPDATE
       SET ${columns.map((column) => `${column} = excluded.${column}`).join(', ')}`,
});
const KEEP_USERS = keepingUsers('vault_keep_users', ['status', 'vouched', 'position']);
/** Older events do not say whether the user is vouched for; the stored value stays then. */
const KEEP_ALL_BUT_VOUCHED = keepingUsers('vault_keep_all_but_vouched', ['status', 'position']);

function keepUser(
  event: Event<'user.created' | 'user.updated' | 'user.status_changed' | 'user.deleted'>,
): RowEffect {
  const { tenantId, position, data } = event;
  const [status, vouched] =
    event.type === 'user.deleted' ? ['deleted', false] : [event.data.status, event.data.vouched];
  return {
    write: vouched === undefined ? KEEP_ALL_BUT_VOUCHED : KEEP_USERS,
    key: [tenantId, data.id],
    row: [tenantId, data.id, status, vouched ?? false, position],
  };
}

function keepAnswer({ tenantId, data }: Event<'approval.approved' | 'approval.denied'>): Statement {
  return {
    name: 'vault_keep_answer',
    text: `INSERT INTO vault.approvals (tenant_id, approval_id, responded_by, responded_at)
     VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
    values: [tenantId, data.id, data.responded_by, data.responded_at],
  };
}
