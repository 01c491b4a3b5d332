import { given } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { type AgentEvent, agents } from '../agent.ts';
import { abandonAgent, changeAgent, createAgent, deleteAgent } from './administer.ts';

const NOW = new Date('2026-01-01T00:00:00Z');
const at = NOW.toISOString();
const data = {
  id: 'a1',
  name: 'deployer',
  description: null,
  owner_user_id: null,
  app_id: null,
  services: [{ service_name: 'warehouse', fields: ['*'] }],
  created_at: at,
  name_hash: 'h1',
  request_hash: null,
};
const created: AgentEvent = { type: 'AgentCreated', data };
const suspended: AgentEvent = { type: 'AgentSuspended', data: { id: 'a1', at } };
const change = (
  more: Partial<Parameters<typeof changeAgent>[0]>,
  ...history: readonly AgentEvent[]
) =>
  given(agents, ...history).when((agent) => changeAgent({ fields: {}, now: NOW, ...more }, agent));

describe('an agent', () => {
  it('is made once, and not after its name was given away', () => {
    const make = (...history: readonly AgentEvent[]) =>
      given(agents, ...history).when((agent) => createAgent(data, agent));
    make().accepts(created);
    make(created).refuses('already_created');
    const abandoned = given(agents).when(abandonAgent).decision.events;
    make(...abandoned).refuses('abandoned');
    given(agents, created).when(abandonAgent).refuses('agent_exists');
  });

  it('changes by what differs alone', () => {
    change({ fields: { name: 'deployer', services: data.services } }, created).accepts();
    change({ fields: { name: 'builder' }, nameHash: 'h2', status: 'active' }, created).accepts({
      type: 'AgentChanged',
      data: { id: 'a1', name: 'builder', name_hash: 'h2', at },
    });
  });

  it('is suspended and resumed, each once', () => {
    change({ status: 'suspended' }, created).accepts(suspended);
    change({ status: 'suspended' }, created, suspended).accepts();
    const resumed = change({ status: 'active' }, created, suspended);
    resumed.accepts({ type: 'AgentResumed', data: { id: 'a1', at } });
    expect(resumed.state.status).toBe('active');
  });

  it('is gone once it is deleted', () => {
    const deleted = given(agents, created).when((agent) => deleteAgent(NOW, agent));
    expect(deleted.state).toEqual({ status: 'deleted', id: 'a1', nameHash: 'h1' });
    expect(deleteAgent(NOW, deleted.state)).toMatchObject({ reason: 'not_found' });
    const events = deleted.decision.events;
    change({ status: 'suspended' }, created, ...events).refuses('not_found');
  });
});
