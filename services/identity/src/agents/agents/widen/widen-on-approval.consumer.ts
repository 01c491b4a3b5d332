/** Adds access to an agent when approval says that an administrator approved the agent's request for it. */
import { approvalEvents } from '@cardea/contracts';
import { consumer, type Heard } from '@cardea/event-bus';
import { failpoint } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import { users } from '../../../accounts/accounts.module.ts';
import type { Workspaces } from '../../../workspaces/workspaces.module.ts';
import { agents } from '../agent.ts';
import { type WidenRefusal, widenAgent } from './widen.ts';

type Dependencies = Pick<ServiceDependencies, 'log' | 'streams' | 'systemCommand'> & {
  readonly workspaces: Pick<Workspaces, 'tenant'>;
};
type Approved = Heard<typeof approvalEvents, 'approval.approved'>;

const MS = 1_000;

/** The consumer has no table, because its decisions are in the log. */
export const widenOnApproval = (deps: Dependencies) =>
  consumer({
    name: 'identity',
    from: [approvalEvents],
    on: {
      'approval.approved': { prepare: (event) => widen(deps, event) },
    },
  });

async function widen(deps: Dependencies, { id: eventId, tenantId, data }: Approved): Promise<void> {
  const { access, agent_id: agentId, id: approvalId } = data;
  // A request without access that only uses the action's name adds nothing to the agent.
  if (access === undefined) return;
  const tenant = await deps.workspaces.tenant(tenantId);
  const setting = tenant?.settings.agent_access ?? null;
  if (setting === null) return note(deps, 'access_requests_off', { tenantId, approvalId });
  const command = deps.systemCommand(tenantId, 'widen agent', eventId);
  const seconds = Math.min(access.duration_seconds, setting.max_seconds);
  const until = new Date(Date.parse(data.responded_at) + seconds * MS);
  const more = { approvalId, services: access.services, until, now: command.now };
  await failpoint('access.before_widen');
  // The append verifies that the approver is still an administrator, even if they are demoted at the same time.
  const decided = await deps.streams.decideOnBasis(agents, agentId, command, {
    restsOn: { approver: { stream: users, id: data.responded_by } },
    decide: (agent, { approver }) => widenAgent(more, agent, approver),
  });
  if (!decided.accepted) note(deps, decided.reason, { tenantId, approvalId });
}

const note = (
  { log }: Dependencies,
  reason: WidenRefusal | 'access_requests_off',
  of: { readonly tenantId: string; readonly approvalId: string },
): void => log.info({ ...of, reason }, 'approved access was not added to the agent');
