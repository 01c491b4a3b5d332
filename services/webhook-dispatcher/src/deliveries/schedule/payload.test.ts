import { type IntegrationEvent, type ServiceName, webhookPayloads } from '@cardea/contracts';
import { Compile } from 'typebox/compile';
import { describe, expect, it } from 'vitest';
import { payloads, webhookEventOf } from './payload.ts';

const { meaningOf: payloadOf, types: SOURCE_TYPES } = payloads;

const AT = '2030-01-01T00:00:00.000Z';
const context = { ip: null, user_agent: null, app_id: null, agent_id: null, request_id: null };

const event = (source: ServiceName, type: string, data: object): IntegrationEvent =>
  ({
    id: '0198f3c2-0000-7000-8000-000000000001',
    type,
    source,
    time: AT,
    tenantId: 't',
    streamId: 's-1',
    position: '1',
    schemaVersion: 1,
    actor: { type: 'system', id: source },
    data: { ...data, context },
  }) as IntegrationEvent;

const user = {
  id: 'u',
  email: 'u@example.com',
  display_name: null,
  email_verified: true,
  created_at: AT,
};
const snapshot = { ...user, roles: ['member'], status: 'active' };
const asked = {
  id: 'r',
  agent_id: 'a',
  agent_name: 'Agent',
  user_id: 'u',
  action: 'pay',
  severity: 'high',
  created_at: AT,
  expires_at: AT,
};
const request = { ...asked, ttl_seconds: 300 };
const answered = { responded_at: AT, responded_by: 'u' };
const session = {
  id: 's',
  family_id: 'f',
  ip_address: null,
  user_agent: null,
  browser: '',
  browser_version: '',
  os: '',
  os_version: '',
  device_type: null,
  started_at: AT,
  last_active_at: AT,
  expires_at: AT,
};
const grant = {
  grant_id: 'g',
  session_id: 's',
  agent_id: 'a',
  user_id: null,
  service_name: 'bank',
  fields: ['token'],
  approval_id: null,
  granted_at: AT,
  expires_at: AT,
};

const ROWS: readonly (readonly [
  ServiceName,
  string,
  object,
  keyof typeof webhookPayloads,
  object,
])[] = [
  ['identity', 'user.created', { ...snapshot, via: 'admin' }, 'user.created', user],
  [
    'identity',
    'user.login',
    { ...snapshot, method: 'password', amr: ['pwd'], session },
    'user.login',
    { ...user, method: 'password', session },
  ],
  [
    'identity',
    'user.password_changed',
    { ...snapshot, by: 'reset', changed_at: AT },
    'user.password_changed',
    { ...user, by: 'reset', changed_at: AT },
  ],
  [
    'identity',
    'user.email_verified',
    { ...snapshot, verified_at: AT },
    'user.email_verified',
    { ...user, verified_at: AT },
  ],
  [
    'identity',
    'user.deleted',
    { id: 'u', deleted_at: AT },
    'user.deleted',
    { id: 'u', deleted_at: AT },
  ],
  [
    'approval',
    'approval.requested',
    { ...request, origin: 'agent', notify_webhook: true, session_id: null },
    'approval.requested',
    { ...asked, origin: 'agent', status: 'pending' },
  ],
  [
    'approval',
    'approval.approved',
    { ...request, resource: 'x', origin: 'self', user_vouched: false, ...answered },
    'approval.approved',
    {
      ...asked,
      resource: 'x',
      origin: 'self',
      user_vouched: false,
      status: 'approved',
      ...answered,
    },
  ],
  [
    'approval',
    'approval.denied',
    { ...request, ...answered, cause: 'user' },
    'approval.denied',
    { ...asked, status: 'denied', ...answered },
  ],
  [
    'approval',
    'approval.expired',
    { ...request, cause: 'time' },
    'approval.expired',
    { ...asked, status: 'expired', cause: 'time' },
  ],
  [
    'vault',
    'vault.credential.granted',
    { ...grant, credential_type: 'static' },
    'credential.granted',
    grant,
  ],
];

describe('what a webhook is told', () => {
  it.each(ROWS)('webhooks 3 of %s %s is exactly its data', (...row) => {
    const [source, type, data, name, told] = row;
    const payload = payloadOf(event(source, type, data));
    expect([payload?.event, payload?.data]).toEqual([name, told]);
    expect(Compile(webhookPayloads[name].schema).Check(payload?.data)).toBe(true);
    expect(SOURCE_TYPES).toContain(type);
    expect(webhookEventOf(type)).toBe(name);
  });

  it('is sealed under the user it tells of, unless nothing of the user is in it', () => {
    const created = payloadOf(event('identity', 'user.created', { ...snapshot, via: 'admin' }));
    expect(created?.subject).toBe('user:u');
    const deleted = payloadOf(event('identity', 'user.deleted', { id: 'u', deleted_at: AT }));
    expect(deleted?.subject).toBeUndefined();
  });

  it('is nothing where the user was erased, or nobody asked for webhooks', () => {
    const erased = { ...snapshot, email: null, via: 'admin' };
    expect(payloadOf(event('identity', 'user.created', erased))).toBeUndefined();
    const quiet = { ...request, origin: 'agent', notify_webhook: false, session_id: null };
    expect(payloadOf(event('approval', 'approval.requested', quiet))).toBeUndefined();
    expect(payloadOf(event('identity', 'user.updated', snapshot))).toBeUndefined();
  });
});
