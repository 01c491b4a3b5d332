/**
 * Adds the access that an agent requested and an administrator approved, for a limited time and once per request.
 * Approver and agent still have to be valid when it is added.
 */
import { accept, type Decision, refuse } from '@cardea/event-store';
import type { User } from '../../../accounts/accounts.module.ts';
import { type Agent, type AgentEvent, isThere } from '../agent.ts';
import { grantsAt, isConcrete, SERVICES_MAX, type ServiceGrant } from '../service-grant.ts';

export type WidenAgent = {
  readonly approvalId: string;
  readonly services: readonly ServiceGrant[];
  readonly until: Date;
  readonly now: Date;
};

export type WidenRefusal =
  | 'approver_lost'
  | 'agent_inactive'
  | 'already_given'
  | 'over'
  | 'not_concrete'
  | 'too_many_services';

export function widenAgent(
  { approvalId, services: wanted, until, now }: WidenAgent,
  agent: Agent,
  approver: User,
): Decision<AgentEvent, WidenRefusal> {
  if (!isAdministrator(approver)) return refuse('approver_lost');
  if (!isThere(agent) || agent.status !== 'active') return refuse('agent_inactive');
  const { id, services: before } = agent.agent;
  if (before.some(({ approval_id }) => approval_id === approvalId)) return refuse('already_given');
  if (until <= now) return refuse('over');
  if (!isConcrete(wanted)) return refuse('not_concrete');
  const end = until.toISOString();
  const added = wanted.map(({ service_name, fields }) => ({
    service_name,
    fields: [...fields],
    until: end,
    approval_id: approvalId,
  }));
  const services = [...grantsAt(before, now), ...added];
  if (services.length > SERVICES_MAX) return refuse('too_many_services');
  return accept({ type: 'AgentChanged', data: { id, services, at: now.toISOString() } });
}

/**
 * Applies the same rule as the decision: only administrators for whom the tenant vouches can extend what an agent may
 * reach.
 */
const isAdministrator = (user: User): boolean =>
  user.status === 'active' && user.vouched && user.roles.includes('admin');
