/** The lifecycle of an agent: created once, changed, suspended and resumed, deleted for good. */
import { accept, type Decision, refuse } from '@cardea/event-store';
import {
  type Agent,
  type AgentData,
  type AgentEvent,
  type AgentFields,
  type ExistingAgent,
  isThere,
} from '../agent.ts';
import { areGiven, grantsAt } from '../service-grant.ts';

export type CreateAgent = AgentData & {
  readonly name_hash: string;
  readonly request_hash: string | null;
};

export function createAgent(
  command: CreateAgent,
  agent: Agent,
): Decision<AgentEvent, 'already_created' | 'abandoned'> {
  if (agent.status === 'abandoned') return refuse('abandoned');
  if (agent.status !== 'none') return refuse('already_created');
  return accept({ type: 'AgentCreated', data: command });
}

export type ChangeAgent = {
  readonly fields: Partial<AgentFields>;
  /** The hash under which a new name is reserved. */
  readonly nameHash?: string;
  readonly status?: 'active' | 'suspended';
  readonly now: Date;
};

export function changeAgent(
  { fields, nameHash, status, now }: ChangeAgent,
  agent: Agent,
): Decision<AgentEvent, 'not_found' | 'services_not_given'> {
  if (!isThere(agent)) return refuse('not_found');
  const { id, services } = agent.agent;
  if (!areGiven(fields.services ?? [], services)) return refuse('services_not_given');
  const at = now.toISOString();
  const wanted = changedFields(fields, agent);
  const events: AgentEvent[] = [];
  if (Object.keys(wanted).length > 0) {
    const changed = withoutEnded(wanted, agent, now);
    const hash = nameHash === undefined ? {} : { name_hash: nameHash };
    events.push({ type: 'AgentChanged', data: { id, ...changed, ...hash, at } });
  }
  if (status === 'suspended' && agent.status === 'active') {
    events.push({ type: 'AgentSuspended', data: { id, at } });
  }
  if (status === 'active' && agent.status === 'suspended') {
    events.push({ type: 'AgentResumed', data: { id, at } });
  }
  return accept(...events);
}

export function deleteAgent(now: Date, agent: Agent): Decision<AgentEvent, 'not_found'> {
  if (!isThere(agent)) return refuse('not_found');
  const { id } = agent.agent;
  const deleted_at = now.toISOString();
  return accept({ type: 'AgentDeleted', data: { id, name_hash: agent.nameHash, deleted_at } });
}

/** Prevents an incomplete agent from ever being completed, so that its name can be released. */
export function abandonAgent(agent: Agent): Decision<AgentEvent, 'agent_exists'> {
  if (isThere(agent)) return refuse('agent_exists');
  if (agent.status !== 'none') return accept();
  return accept({ type: 'AgentAbandoned', data: { id: '' } });
}

/** The next change removes entries of approvals that have ended. */
function withoutEnded(
  changed: Partial<AgentFields>,
  { agent }: ExistingAgent,
  now: Date,
): Partial<AgentFields> {
  const before = changed.services ?? agent.services;
  const services = grantsAt(before, now);
  const isAsBefore = changed.services === undefined && services.length === before.length;
  return isAsBefore ? changed : { ...changed, services };
}

const changedFields = (
  fields: Partial<AgentFields>,
  { agent }: ExistingAgent,
): Partial<AgentFields> =>
  Object.fromEntries(
    Object.entries(fields).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(agent[name as keyof AgentFields]),
    ),
  );
