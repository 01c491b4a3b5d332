/**
 * Maintains users, agents and tenants from identity's events, and expires the requests of those that were
 * deleted, because nobody can decide them or use their approval any more.
 */
import { IDENTITY_AUDIT_ONLY, identityEvents } from '@cardea/contracts';
import { consumer, type Heard, type RowEffect, type RowWriter } from '@cardea/event-bus';
import { ignoring } from '@cardea/event-store';
import type { Statement } from '@cardea/read-models';
import { cleaned } from '@cardea/runtime';
import { decideOnRows, forgetTenant, type ServiceDependencies } from '@cardea/service';
import type { Changes } from '../approval-requests/changes.ts';
import { clearGuesses, codeGuesses } from '../approval-requests/code-guesses.ts';
import { announceEnd, endOf } from '../approval-requests/read-request.ts';
import { type ExpiryCause, requests, subjectOf } from '../approval-requests/request.ts';
import { eraseTextsFor } from '../approver-sets/set-texts.ts';

type ConsumerDependencies = Pick<
  ServiceDependencies,
  'database' | 'positions' | 'sealer' | 'store' | 'streams' | 'systemCommand'
> & {
  readonly changes: Changes;
  readonly onUserDeleted: (tenantId: string, userId: string) => Promise<void>;
};
type Event<Type extends (typeof identityEvents)['types'][number]> = Heard<
  typeof identityEvents,
  Type
>;

const CATCH_UP_MS = 30_000;
const PAGE_ROWS = 256;

export const identityConsumer = (needs: ConsumerDependencies) =>
  consumer({
    name: 'approval',
    from: [identityEvents],
    on: {
      'user.created': { apply: keepUser },
      'user.updated': { apply: keepUser },
      'user.status_changed': {
        prepare: async ({ tenantId, data: { id, status } }) => {
          if (status === 'disabled') await endRequestsOf(needs, { tenantId, user: id });
        },
        apply: keepUser,
      },
      'user.email_verified': { apply: keepUser },
      'user.unlocked': { prepare: (event) => letGuessAgain(needs, event) },
      'user.deleted': {
        prepare: async ({ tenantId, data: { id } }) => {
          await endRequestsOf(needs, { tenantId, user: id });
          await needs.onUserDeleted(tenantId, id);
          await eraseTextsFor(needs, { tenantId, userId: id });
          await needs.sealer.erase(subjectOf(tenantId, id));
        },
        apply: forgetUser,
      },
      'tenant.created': { apply: keepTenant },
      'tenant.updated': { apply: keepTenant },
      'tenant.deleted': {
        prepare: async (event) => {
          await endRequestsOf(needs, { tenantId: event.tenantId, all: true });
          await forgetTenant(needs, event);
        },
        apply: forgetRows,
      },
      'agent.created': { apply: keepAgent },
      'agent.updated': { apply: keepAgent },
      'agent.suspended': { apply: keepAgent },
      'agent.resumed': { apply: keepAgent },
      'agent.deleted': {
        prepare: ({ tenantId, data: { id } }) => endRequestsOf(needs, { tenantId, agent: id }),
        apply: forgetAgent,
      },
      'agent_session.ended': {
        prepare: ({ tenantId, data: { id } }) => endRequestsOf(needs, { tenantId, session: id }),
      },
      ...NO_CONCERN,
    },
  });

const NO_CONCERN = {
  ...ignoring('it concerns identity and the audit log alone', ...IDENTITY_AUDIT_ONLY),
  ...ignoring('how a user signs in changes no request', 'user.login', 'user.password_changed'),
  ...ignoring(
    'only the end of an agent session ends a request',
    'agent_session.started',
    'agent_session.renewed',
    'delegation.withdrawn',
  ),
};

const SAID = ['email', 'display_name', 'status', 'position'];
const keepingUsers = (name: string, columns: readonly string[]): RowWriter => ({
  name,
  table: 'approval.users',
  text: `INSERT INTO approval.users
       (tenant_id, user_id, email, display_name, status, vouched, position, locale)
     SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::boolean[],
       $7::bigint[], $8::text[])
     ON CONFLICT (tenant_id, user_id) DO UPDATE
       SET ${columns.map((column) => `${column} = excluded.${column}`).join(', ')}`,
});
const KEEP_USERS = keepingUsers('approval_keep_users', [...SAID, 'vouched', 'locale']);
/** Older events say neither the language of the user, nor, still older ones, who vouches; what is stored stays then. */
const KEEP_ALL_BUT_LOCALE = keepingUsers('approval_keep_all_but_locale', [...SAID, 'vouched']);
const KEEP_ALL_BUT_VOUCHED = keepingUsers('approval_keep_all_but_vouched', SAID);

function keepUser({
  tenantId,
  position,
  data: user,
}: Event<
  'user.created' | 'user.updated' | 'user.status_changed' | 'user.email_verified'
>): RowEffect {
  const { id, email, display_name, status, vouched, locale } = user;
  const keep = locale === undefined ? KEEP_ALL_BUT_LOCALE : KEEP_USERS;
  return {
    write: vouched === undefined ? KEEP_ALL_BUT_VOUCHED : keep,
    key: [tenantId, id],
    row: [tenantId, id, email, display_name, status, vouched ?? false, position, locale ?? null],
  };
}

function forgetUser({ tenantId, data }: Event<'user.deleted'>): Statement {
  return {
    name: 'approval_forget_user',
    text: 'DELETE FROM approval.users WHERE tenant_id = $1 AND user_id = $2',
    values: [tenantId, data.id],
  };
}

function keepAgent({
  tenantId,
  data: agent,
}: Event<'agent.created' | 'agent.updated' | 'agent.suspended' | 'agent.resumed'>): Statement {
  return {
    name: 'approval_keep_agent',
    text: `INSERT INTO approval.agents (tenant_id, agent_id, name, owner_user_id, status)
     VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (tenant_id, agent_id) DO UPDATE SET
       name = excluded.name, owner_user_id = excluded.owner_user_id, status = excluded.status`,
    // A name is shown in mail headers and on pages, so it must have no invisible characters.
    values: [
      tenantId,
      agent.id,
      cleaned(agent.name) || agent.id,
      agent.owner_user_id,
      agent.status,
    ],
  };
}

/** The row stays, so that a deleted agent cannot be used to make requests. */
function forgetAgent({ tenantId, data }: Event<'agent.deleted'>): Statement {
  return {
    name: 'approval_forget_agent',
    text: `UPDATE approval.agents SET status = 'deleted' WHERE tenant_id = $1 AND agent_id = $2`,
    values: [tenantId, data.id],
  };
}

function keepTenant({ data: tenant }: Event<'tenant.created' | 'tenant.updated'>): Statement {
  return {
    name: 'approval_keep_tenant',
    // Older events say neither language nor colour; the stored ones stay then.
    text: `INSERT INTO approval.tenants (tenant_id, channels, language, display_name, brand_color)
     VALUES ($1, $2::text[], $3, $4, $5)
     ON CONFLICT (tenant_id) DO UPDATE SET channels = excluded.channels,
       language = coalesce(excluded.language, tenants.language),
       display_name = excluded.display_name,
       brand_color = CASE WHEN $6 THEN excluded.brand_color ELSE tenants.brand_color END`,
    values: [
      ...[tenant.id, tenant.approval_channels, tenant.language ?? null],
      ...[tenant.display_name, tenant.brand_color ?? null, tenant.brand_color !== undefined],
    ],
  };
}

function forgetRows({ data }: Event<'tenant.deleted'>): readonly Statement[] {
  return ['users', 'agents', 'tenants'].map((table) => ({
    text: `DELETE FROM approval.${table} WHERE tenant_id = $1`,
    values: [data.id],
  }));
}

type Gone = { readonly tenantId: string } & (
  | { readonly user: 'all' }
  | { readonly user: string }
  | { readonly agent: string }
  | { readonly session: string }
  | { readonly all: true }
);

/** Which pending requests can no longer be decided or used, as SQL over the tenant's requests. */
function orphansOf(gone: Gone): {
  readonly where: string;
  readonly id: string;
  readonly cause: ExpiryCause;
} {
  if ('all' in gone) return { where: 'tenant_id = $2', id: gone.tenantId, cause: 'user' };
  if ('user' in gone) {
    // A set has other persons who can decide, but nobody uses the approval once its agent's user is gone.
    return { where: '(user_id = $2 OR session_user_id = $2)', id: gone.user, cause: 'user' };
  }
  if ('agent' in gone) return { where: 'agent_id = $2', id: gone.agent, cause: 'agent' };
  return { where: `binding->>'session_id' = $2`, id: gone.session, cause: 'session' };
}

/** The block after wrong binding codes ends with those of sign-ins. */
async function letGuessAgain(
  { streams, systemCommand }: ConsumerDependencies,
  { id, tenantId, data }: Event<'user.unlocked'>,
): Promise<void> {
  const command = systemCommand(tenantId, 'clear code guesses', id);
  await streams.decideOn(codeGuesses, data.id, command, (guesses) =>
    clearGuesses(command.now, guesses),
  );
}

async function endRequestsOf(needs: ConsumerDependencies, gone: Gone): Promise<void> {
  const { where, id: goneId, cause } = orphansOf(gone);
  const { tenantId } = gone;
  await decideOnRows(
    needs,
    {
      projections: ['requests'],
      position: await needs.store.head('approval'),
      waitMs: CATCH_UP_MS,
      pageRows: PAGE_ROWS,
      page: async (after) => {
        const { rows } = await needs.database.system.query<{ id: string }>(
          `SELECT id FROM approval.requests
           WHERE tenant_id = $1 AND ${where} AND status = 'pending' AND id > $3
           ORDER BY id LIMIT ${PAGE_ROWS}`,
          [tenantId, goneId, after],
        );
        return rows;
      },
      keyOf: ({ id }) => id,
      firstKey: '',
    },
    {
      stream: requests,
      decisionOn: ({ id }) => endOf(needs, { tenantId, id, cause }),
      onDecided: ({ id }, decided) => announceEnd(needs, id, decided),
    },
  );
}
