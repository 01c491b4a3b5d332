import type { RecordedEvent } from '@cardea/event-store';
import { describe, expect, it } from 'vitest';
import type { CredentialReused } from './grant-key.ts';
import { grantsRelay } from './relay.ts';

const reused: CredentialReused['data'] = {
  grant_id: 'g1',
  session_id: 'session',
  agent_id: 'agent',
  user_id: 'ann',
  key_id: 'key',
  cap_jti: 'jti',
  service_id: 'service',
  service_name: 'db',
  credential_type: 'static',
  fields: [{ name: 'password', version: 1, secret_id: 'secret-1' }],
  config_version: 1,
  policies: [],
  approval_id: 'approval',
  granted_at: '2026-01-01T12:00:00.000Z',
  expires_at: '2026-01-01T12:15:00.000Z',
  revoked_at: null,
  used: [],
  reused_grant_id: 'g1',
  count: 3,
};
const told = (data: CredentialReused['data']) =>
  grantsRelay['CredentialReused']?.({ data } as unknown as RecordedEvent, {
    open: async () => null,
    stateAt: async () => undefined,
    history: async () => [],
  });

describe('A grant that was handed out again', () => {
  it('is told with the approval that it rests on, and with none of its keys and secrets', () => {
    expect(told(reused)).toEqual({
      type: 'vault.credential.reused',
      data: {
        grant_id: 'g1',
        session_id: 'session',
        agent_id: 'agent',
        user_id: 'ann',
        service_name: 'db',
        fields: ['password'],
        approval_id: 'approval',
        count: 3,
      },
    });
  });

  it('is not told with the approval of the grant that followed it', () => {
    expect(told({ ...reused, grant_id: 'g2' })).toMatchObject({
      data: { grant_id: 'g1', approval_id: null },
    });
  });
});
