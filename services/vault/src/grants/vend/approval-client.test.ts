import { systemClock } from '@cardea/runtime';
import { type Peers, PeerUnavailable } from '@cardea/service';
import { describe, expect, it } from 'vitest';
import type { ApprovalRequirement } from '../../policies/policies.module.ts';
import type { ServiceRecord } from '../../services/services.module.ts';
import { type Ask, digestOf, grantIdOf, openApproval } from './approval-client.ts';

const requirement: ApprovalRequirement = {
  approver: 'session_user',
  approver_vouched: true,
  severity: 'medium',
  ttl_seconds: 3_600,
  use_window_seconds: 3_600,
  max_auth_age_seconds: null,
  number_match: false,
  approvals_needed: 1,
  exclude_session_user: false,
  escalate: null,
};
const service = { id: 'service-1', config_version: 3, default_ttl_seconds: 900 } as ServiceRecord;
const evening: Ask = {
  tenantId: 'tenant-1',
  agentId: 'agent-1',
  sessionId: 'session-1',
  approverId: 'ada',
  set: undefined,
  userId: 'ben',
  service,
  fields: ['password', 'user'],
  policies: [{ id: 'policy-1', version: 2 }],
  requirement,
  purpose: 'Weekly report',
  commandId: 'command-1',
  context: { app_id: null },
};
const overNight = { ...requirement, ttl_seconds: 604_800 };
const asking = (more: Partial<Ask> = {}): Ask => ({ ...evening, requirement: overNight, ...more });
const morning = { sessionId: 'session-2', commandId: 'command-2' };

describe('the digest of a vend', () => {
  it('approval 29 is bound to its session up to an hour, and as it was', () => {
    expect(digestOf(evening)).toBe(
      '4fc6db6dfccfd1b1c8c6f398232bc46a581f778ca7cb6ad4409979f59678f53a',
    );
    expect(digestOf({ ...evening, ...morning })).not.toBe(digestOf(evening));
    // Other sessions have other users and purposes.
    expect(digestOf({ ...evening, purpose: null, userId: null })).toBe(digestOf(evening));
    const set = { role: 'admin' };
    const toSet = { ...evening, approverId: 'role:admin', set };
    expect(digestOf(toSet)).toBe(
      'f1e3960dabe4d6caf08084be3c7af9c3e068eb927ebb4b795a00e38f197dadf0',
    );
    expect(digestOf({ ...toSet, ...morning })).not.toBe(digestOf(toSet));
  });

  it.each([
    ['ttl_seconds', { ...requirement, ttl_seconds: 3_601 }],
    ['use_window_seconds', { ...requirement, use_window_seconds: 3_601 }],
  ])('approval 29 is that of every session like it where %s exceeds an hour', (_what, longer) => {
    const asked = asking({ requirement: longer });
    expect(digestOf({ ...asked, ...morning })).toBe(digestOf(asked));
  });

  it('approval 29 is another one for another user, purpose, service, policy or approver', () => {
    const role = { role: 'admin' };
    const digests = [
      asking(),
      asking({ userId: 'eve' }),
      asking({ userId: null }),
      asking({ purpose: 'Another report' }),
      asking({ purpose: null }),
      asking({ approverId: 'bob' }),
      asking({ approverId: 'role:admin', set: role }),
      asking({ agentId: 'agent-2' }),
      asking({ tenantId: 'tenant-2' }),
      asking({ fields: ['password'] }),
      asking({ policies: [{ id: 'policy-1', version: 3 }] }),
      asking({ service: { ...service, id: 'service-2' } }),
      asking({ service: { ...service, config_version: 4 } }),
      asking({ service: { ...service, default_ttl_seconds: 60 } }),
      asking({ requirement: { ...overNight, exclude_session_user: true } }),
    ].map(digestOf);
    expect(new Set(digests).size).toBe(digests.length);
  });

  it('approval 29 makes one grant of a session, and another one of another session', () => {
    const first = grantIdOf(asking(), 'approval-1');
    expect(grantIdOf(asking({ commandId: 'again' }), 'approval-1')).toBe(first);
    expect(grantIdOf(asking(morning), 'approval-1')).not.toBe(first);
    expect(grantIdOf(evening, 'approval-1')).toBe('965919e2-27fc-825d-8f22-a31d35870008');
  });
});

describe('the names of policies', () => {
  const policies = [{ id: 'policy-1', version: 2, name: 'Payroll' }];

  it('are no part of the digest, which an approval of before has, too', () => {
    expect(digestOf({ ...evening, policies })).toBe(digestOf(evening));
    expect(digestOf(asking({ policies }))).toBe(digestOf(asking()));
  });

  it('are left out for a server of the release before, which refuses them', async () => {
    const asked: unknown[] = [];
    const open: Peers['approval']['open'] = async (request) => {
      asked.push(request.policies);
      if (request.policies.some(({ name }) => name !== undefined)) {
        throw new PeerUnavailable('it answers 400');
      }
      return { outcome: 'opened', id: 'r1', expires_in: 60, binding_message: 'm' };
    };
    const approval = { open } as Peers['approval'];
    const needs = { approval, clock: systemClock };
    expect(await openApproval(needs, { ...evening, policies })).toMatchObject({
      waiting: { id: 'r1' },
    });
    expect(asked).toEqual([policies, [{ id: 'policy-1', version: 2 }]]);
  });
});
