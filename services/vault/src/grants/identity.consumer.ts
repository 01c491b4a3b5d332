/**
 * Reads the topics of identity and approval: the state of sessions, agents and users, approvals, and which grants end
 * as a result.
 */
import { approvalEvents, identityEvents } from '@cardea/contracts';
import { consumer, type Heard } from '@cardea/event-bus';
import { type Statement, table } from '@cardea/read-models';
import { noteForgottenTenant, type ServiceDependencies } from '@cardea/service';
import type { Epochs } from '../epochs.ts';
import { agents, sessionRows, users } from '../identity-facts/copies.ts';
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
    rows: { schema: 'vault', tables: [agents.table, sessionRows, users.table, approvals, tenants] },
    on: {
      'agent.created': { apply: agents.keep },
      'agent.updated': { apply: agents.keep },
      'agent.resumed': { apply: agents.keep },
      'agent.suspended': {
        prepare: (event) => end(event, 'agent_suspended', { agent_id: event.data.id }),
        apply: agents.keep,
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
      'user.created': { apply: users.keep },
      'user.updated': { apply: users.keep },
      'user.status_changed': {
        prepare: async (event) => {
          const { id, status } = event.data;
          if (status === 'disabled') await end(event, 'user_disabled', { user_id: id });
        },
        apply: users.keep,
      },
      'user.deleted': {
        prepare: (event) => end(event, 'user_deleted', { user_id: event.data.id }),
        apply: forgetUser,
      },
      'tenant.created': { apply: keepTenant },
      'tenant.updated': { apply: keepTenant },
      'tenant.deleted': {
        prepare: async (event) => {
          await onTenantDeleted(event.tenantId, event.id);
          await noteForgottenTenant(vault, event);
        },
        apply: forgetRows,
      },
      'approval.approved': { apply: keepAnswer },
      'approval.denied': { apply: keepAnswer },
    },
    onCommitted: (events) => vault.facts.applied(events),
  });
};

const approvals = table('approvals', {
  key: ['tenant_id', 'approval_id'],
  columns: {
    tenant_id: 'text',
    approval_id: 'text',
    responded_by: 'text',
    responded_at: 'timestamptz',
  },
});

const tenants = table('tenants', {
  key: ['tenant_id'],
  columns: { tenant_id: 'text', agent_access: 'boolean' },
});

const forgetRows = ({ tenantId }: Event<'tenant.deleted'>): readonly Statement[] =>
  ['agents', 'agent_sessions', 'users', 'approvals', 'tenants'].map((table) => ({
    text: `DELETE FROM vault.${table} WHERE tenant_id = $1`,
    values: [tenantId],
  }));

/** Older events do not contain the setting for access. Agents could not request access then, and may by default now. */
const keepTenant = ({ data }: Event<'tenant.created' | 'tenant.updated'>) =>
  data.agent_access === undefined
    ? []
    : tenants.put({ tenant_id: data.id, agent_access: data.agent_access !== null });

const deleteAgent = (event: Event<'agent.deleted'>) =>
  agents.patch(event, {
    status: 'deleted',
    services: [],
    changed_at: event.time,
    owner_user_id: null,
    position: BigInt(event.position),
  });

const keepSession = ({
  tenantId: tenant_id,
  position,
  data: { id: session_id, agent_id, user_id, epoch, expires_at },
}: Event<'agent_session.started' | 'agent_session.renewed'>) =>
  sessionRows.upsert(
    {
      tenant_id,
      session_id,
      agent_id,
      user_id,
      epoch,
      expires_at,
      ended_at: undefined,
      position: BigInt(position),
    },
    { ended_at: null },
  );

/** A session may end after its tenant was deleted. Its row must not be created again then. */
const endSession = ({
  tenantId: tenant_id,
  position,
  data: { id: session_id, epoch, expires_at, ended_at },
}: Event<'agent_session.ended'>) =>
  sessionRows.patch(
    { tenant_id, session_id },
    { epoch, expires_at, ended_at, position: BigInt(position) },
  );

const forgetUser = (event: Event<'user.deleted'>) =>
  users.put(event, { status: 'deleted', vouched: false, position: BigInt(event.position) });

const keepAnswer = ({
  tenantId: tenant_id,
  data: { id: approval_id, responded_by, responded_at },
}: Event<'approval.approved' | 'approval.denied'>) =>
  approvals.insert({ tenant_id, approval_id, responded_by, responded_at });
