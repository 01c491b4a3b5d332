import { given } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import type { User } from '../../../accounts/accounts.module.ts';
import { type AgentEvent, agents } from '../agent.ts';
import { type WidenAgent, widenAgent } from './widen.ts';

const NOW = new Date('2026-01-01T00:00:00Z');
const at = NOW.toISOString();
const LATER = new Date('2026-01-01T01:00:00Z');
const lasting = { service_name: 'warehouse', fields: ['*'] };
const created: AgentEvent = {
  type: 'AgentCreated',
  data: {
    id: 'a1',
    name: 'deployer',
    description: null,
    owner_user_id: null,
    app_id: null,
    services: [lasting],
    created_at: at,
    name_hash: 'h1',
    request_hash: null,
  },
};
const wanted = [{ service_name: 'payroll', fields: ['token'] }];
const admin = { status: 'active', vouched: true, roles: ['member', 'admin'] } as unknown as User;
const widen = (more: Partial<WidenAgent> = {}, ...history: readonly AgentEvent[]) =>
  given(agents, created, ...history).when((agent) =>
    widenAgent(
      { approvalId: 'r1', services: wanted, until: LATER, now: NOW, ...more },
      agent,
      admin,
    ),
  );
const entry = (approval_id: string, until = LATER) => ({
  ...{ service_name: 'payroll', fields: ['token'] },
  ...{ until: until.toISOString(), approval_id },
});
const changed = (...services: readonly object[]): AgentEvent => ({
  type: 'AgentChanged',
  data: { id: 'a1', services: services as readonly (typeof lasting)[], at },
});

describe('an agent whose request for access was approved', () => {
  it('approval 31 has what was approved beside what it had, until its end', () => {
    widen().accepts(changed(lasting, entry('r1')));
    widen({ approvalId: 'r2' }, changed(lasting, entry('r1'))).accepts(
      changed(lasting, entry('r1'), entry('r2')),
    );
  });

  it('approval 31 gets it once, in time, field by field and within what an agent has at most', () => {
    widen({}, changed(lasting, entry('r1'))).refuses('already_given');
    widen({ until: NOW }).refuses('over');
    widen({ services: [{ service_name: 'payroll', fields: ['*'] }] }).refuses('not_concrete');
    const full = Array.from({ length: 50 }, (_, n) => ({ ...lasting, service_name: `s${n}` }));
    widen({}, changed(...full)).refuses('too_many_services');
    // Entries that have ended do not count against the limit.
    widen({}, changed(...full.slice(1), entry('r0', NOW))).accepts(
      changed(...full.slice(1), entry('r1')),
    );
  });

  it('approval 31 gets nothing while it is suspended, or where the approver is no administrator any more', () => {
    widen({}, { type: 'AgentSuspended', data: { id: 'a1', at } }).refuses('agent_inactive');
    const agent = given(agents, created).when((state) =>
      widenAgent({ approvalId: 'r1', services: wanted, until: LATER, now: NOW }, state, admin),
    ).state;
    for (const more of [{ roles: ['member'] }, { vouched: false }, { status: 'disabled' }]) {
      const approver = { ...admin, ...more } as unknown as User;
      const command = { approvalId: 'r2', services: wanted, until: LATER, now: NOW };
      expect(widenAgent(command, agent, approver)).toMatchObject({ reason: 'approver_lost' });
    }
  });
});
