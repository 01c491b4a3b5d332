/**
 * Maintains users, agents and tenants from identity's events. When one of them is deleted, it expires their requests,
 * because nobody can decide those or use their approval any more.
 */
import { identityEvents } from '@cardea/contracts';
import { consumer, type Heard } from '@cardea/event-bus';
import type { Statement } from '@cardea/read-models';
import { decideOnRows, forgetTenant, type ServiceDependencies } from '@cardea/service';
import type { Changes } from '../approval-requests/changes.ts';
import { clearGuesses, codeGuesses } from '../approval-requests/code-guesses.ts';
import { announceEnd, endOf } from '../approval-requests/read-request.ts';
import { type ExpiryCause, requests, subjectOf } from '../approval-requests/request.ts';
import { eraseTextsFor } from '../approver-sets/set-texts.ts';
import { agents, tenantRows, users } from './copies.ts';

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
    rows: { schema: 'approval', tables: [users.table, agents.table, tenantRows] },
    on: {
      'user.created': { apply: users.keep },
      'user.updated': { apply: users.keep },
      'user.status_changed': {
        prepare: async ({ tenantId, data: { id, status } }) => {
          if (status === 'disabled') await endRequestsOf(needs, { tenantId, user: id });
        },
        apply: users.keep,
      },
      'user.email_verified': { apply: users.keep },
      'user.unlocked': { prepare: (event) => letGuessAgain(needs, event) },
      'user.deleted': {
        prepare: async ({ tenantId, data: { id } }) => {
          await endRequestsOf(needs, { tenantId, user: id });
          await needs.onUserDeleted(tenantId, id);
          await eraseTextsFor(needs, { tenantId, userId: id });
          await needs.sealer.erase(subjectOf(tenantId, id));
        },
        apply: users.remove,
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
      'agent.created': { apply: agents.keep },
      'agent.updated': { apply: agents.keep },
      'agent.suspended': { apply: agents.keep },
      'agent.resumed': { apply: agents.keep },
      'agent.deleted': {
        prepare: ({ tenantId, data: { id } }) => endRequestsOf(needs, { tenantId, agent: id }),
        // The row remains, so that a deleted agent cannot be used to make requests.
        apply: (event) => agents.patch(event, { status: 'deleted' }),
      },
      'agent_session.ended': {
        prepare: ({ tenantId, data: { id } }) => endRequestsOf(needs, { tenantId, session: id }),
      },
    },
  });

/** Older events contain neither language, colour nor the setting for access. The stored values then remain. */
const keepTenant = ({ data: tenant }: Event<'tenant.created' | 'tenant.updated'>) =>
  tenantRows.upsert(
    {
      tenant_id: tenant.id,
      channels: tenant.approval_channels,
      language: tenant.language ?? undefined,
      display_name: tenant.display_name,
      brand_color: tenant.brand_color,
      // `false` means off, because null means that the event does not contain the setting.
      agent_access: tenant.agent_access === null ? false : tenant.agent_access,
    },
    { language: null, brand_color: null, agent_access: null },
  );

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

/** Selects the pending requests that can no longer be decided or used, as SQL over the tenant's requests. */
function orphansOf(gone: Gone): {
  readonly where: string;
  readonly id: string;
  readonly cause: ExpiryCause;
} {
  if ('all' in gone) return { where: 'tenant_id = $2', id: gone.tenantId, cause: 'user' };
  if ('user' in gone) {
    // Includes requests to a set that were made for this user: other members could still decide, but nobody could use
    // the approval.
    const where = '(user_id = $2 OR session_user_id = $2 OR deputy_for = $2)';
    return { where, id: gone.user, cause: 'user' };
  }
  if ('agent' in gone) return { where: 'agent_id = $2', id: gone.agent, cause: 'agent' };
  // A request that waits longer than sessions usually last can be used from another session.
  const where = `binding->>'session_id' = $2 AND binding->'outlives_session' IS NULL`;
  return { where, id: gone.session, cause: 'session' };
}

/** When a user is unlocked, their block after wrong binding codes ends too. */
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
