import { given } from '@cardea/testing';
import { describe, it } from 'vitest';
import { type CurrentGrant, type GrantKeyEvent, grantKeys } from '../grant-key.ts';
import { revokeGrant } from './revoke.ts';

const now = new Date('2026-01-01T12:00:00.000Z');
const grant: CurrentGrant = {
  grant_id: 'second',
  session_id: 'session',
  agent_id: 'agent',
  user_id: null,
  key_id: 'key',
  cap_jti: 'jti',
  service_id: 'service',
  service_name: 'db',
  credential_type: 'static',
  fields: [{ name: 'password', version: 1, secret_id: 'secret' }],
  config_version: 1,
  policies: [],
  approval_id: null,
  granted_at: '2026-01-01T11:55:00.000Z',
  expires_at: '2026-01-01T12:10:00.000Z',
  revoked_at: null,
  used: [],
};
const granted: GrantKeyEvent = {
  type: 'CredentialGranted',
  data: { ...grant, supersedes: 'first' },
};
const revoked = (grantId: string, revokedAt: string | null): GrantKeyEvent => ({
  type: 'GrantRevoked',
  data: {
    ...grant,
    revoked_at: revokedAt,
    revoked_grant_id: grantId,
    cause: 'session_ended',
    ended_at: now.toISOString(),
  },
});
const revoke = (grantId: string) => ({ grantId, cause: 'session_ended', now });

describe('revoking a grant', () => {
  it('ends the one that would be handed out again, once', () => {
    given(grantKeys, granted)
      .when((grantKey) => revokeGrant(revoke('second'), grantKey))
      .accepts(revoked('second', now.toISOString()));
    given(grantKeys, granted, revoked('second', now.toISOString()))
      .when((grantKey) => revokeGrant(revoke('second'), grantKey))
      .accepts();
  });

  it('leaves the newer one alone where it names one that was superseded', () => {
    given(grantKeys, granted)
      .when((grantKey) => revokeGrant(revoke('first'), grantKey))
      .accepts(revoked('first', null));
  });

  it('changes nothing where nothing was granted', () => {
    given(grantKeys)
      .when((grantKey) => revokeGrant(revoke('second'), grantKey))
      .accepts();
  });
});
