import { describe, expect, it } from 'vitest';
import { accessFactsOf, merged } from './ask-access.ts';

const NOW = new Date('2026-01-01T00:00:00Z');

describe('what an agent asks for', () => {
  it('approval 31 names each service once, with each field once', () => {
    const services = [
      { service_name: 'payroll', fields: ['token'] },
      { service_name: 'mail', fields: ['password'] },
      { service_name: 'payroll', fields: ['account', 'token'] },
    ];
    expect(merged(services)).toEqual([
      { service_name: 'payroll', fields: ['token', 'account'] },
      { service_name: 'mail', fields: ['password'] },
    ]);
  });

  it('approval 31 is a request to the set, whose resource is cut like any', () => {
    const services = Array.from({ length: 10 }, (_, at) => ({
      service_name: `service-${at}-${'x'.repeat(40)}`,
      fields: ['token'],
    }));
    const of = { id: 'r1', tenant_id: 't1', agent_id: 'bot', agent_name: 'Bot', channels: [] };
    const facts = accessFactsOf(of, {
      access: { services, duration_seconds: 3_600 },
      approver: { role: 'admin' },
      ttlSeconds: 60,
      now: NOW,
    });
    expect(facts).toMatchObject({
      ...{ action: 'grant_access', user_id: 'role:admin', needed: 1, origin: 'agent' },
      expires_at: '2026-01-01T00:01:00.000Z',
    });
    expect(facts.resource?.length).toBeLessThanOrEqual(200);
  });
});
