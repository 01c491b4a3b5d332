import { given } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { type CredentialGranted, type Grant, type GrantKeyState, grantKeys } from '../grant-key.ts';
import { revokeGrant } from '../revoke/revoke.ts';
import { type IssueGrant, issueGrant } from './issue-grant.ts';

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 12) + seconds * 1000);
const grant = (grant_id: string, more: Partial<Grant> = {}): Grant => ({
  grant_id,
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
  approval_id: null,
  granted_at: at(0).toISOString(),
  expires_at: at(900).toISOString(),
  ...more,
});
const granted = (
  made: Grant,
  more: Partial<CredentialGranted['data']> = {},
): CredentialGranted => ({
  type: 'CredentialGranted',
  data: { ...made, revoked_at: null, used: [], supersedes: null, ...more },
});
const ask = (more: Partial<IssueGrant> & { readonly grant: Grant }): IssueGrant => ({
  forced: false,
  consumed: undefined,
  now: at(10),
  ...more,
});
const approval = (again: boolean, approval_id = 'approval') => ({
  approval_id,
  use_before: at(300).toISOString(),
  again,
});
const used = [{ approval_id: 'approval', use_before: at(300).toISOString() }];
const [g1, g2] = [grant('g1'), grant('g2')];

describe('an ungated grant', () => {
  it('is made in an empty grant key, and answered while it is live', () => {
    given(grantKeys)
      .when((grantKey) => issueGrant(ask({ grant: g1 }), grantKey))
      .accepts(granted(g1));
    given(grantKeys, granted(g1))
      .when((grantKey) => issueGrant(ask({ grant: g2 }), grantKey))
      .accepts();
  });

  it('is made anew when it is asked for by force, and names what it supersedes', () => {
    given(grantKeys, granted(g1))
      .when((grantKey) => issueGrant(ask({ grant: g2, forced: true }), grantKey))
      .accepts(granted(g2, { supersedes: 'g1' }));
  });

  it.each([
    ['has run out', ask({ grant: g2, now: at(900) })],
    [
      'rests on an older secret',
      ask({
        grant: grant('g2', { fields: [{ name: 'password', version: 2, secret_id: 'secret-2' }] }),
      }),
    ],
    [
      'rests on an older policy',
      ask({ grant: grant('g2', { policies: [{ id: 'p', version: 1 }] }) }),
    ],
    ['rests on an older configuration', ask({ grant: grant('g2', { config_version: 2 }) })],
  ])('is made anew when the one that stands %s', (_why, wanted) => {
    const { decision } = given(grantKeys, granted(g1)).when((grantKey) =>
      issueGrant(wanted, grantKey),
    );
    expect(decision.events).toHaveLength(1);
  });

  it('is made anew when the one that stands was revoked', () => {
    const revoke = (grantKey: GrantKeyState) =>
      revokeGrant({ grantId: 'g1', cause: 'admin', now: at(5) }, grantKey);
    const { events } = given(grantKeys, granted(g1)).when(revoke).decision;
    given(grantKeys, granted(g1), ...events)
      .when((grantKey) => issueGrant(ask({ grant: g2 }), grantKey))
      .accepts(granted(g2, { supersedes: 'g1' }));
    given(grantKeys, granted(g1), ...events)
      .when(revoke)
      .accepts();
  });
});

describe('a grant that was approved', () => {
  it('notes the approval that it used up, for as long as that could be brought again', () => {
    given(grantKeys)
      .when((grantKey) => issueGrant(ask({ grant: g1, consumed: approval(false) }), grantKey))
      .accepts(granted(g1, { used }));
    given(grantKeys, granted(g1, { used }))
      .when((grantKey) => issueGrant(ask({ grant: g2, now: at(300), forced: true }), grantKey))
      .accepts(granted(g2, { supersedes: 'g1' }));
  });

  it('vault 9 is made when its approval was used up but the grant never came to stand', () => {
    given(grantKeys)
      .when((grantKey) => issueGrant(ask({ grant: g1, consumed: approval(true) }), grantKey))
      .accepts(granted(g1, { used }));
  });

  it('vault 8 is answered again while it stands, and never made twice', () => {
    const stands = given(grantKeys, granted(g1, { used }));
    stands
      .when((grantKey) => issueGrant(ask({ grant: g1, consumed: approval(true) }), grantKey))
      .accepts();
    stands
      .when((grantKey) =>
        issueGrant(ask({ grant: g1, consumed: approval(true), forced: true }), grantKey),
      )
      .refuses('APPROVAL_CONSUMED');
    given(grantKeys, granted(g1, { revoked_at: at(5).toISOString(), used }))
      .when((grantKey) => issueGrant(ask({ grant: g1, consumed: approval(true) }), grantKey))
      .refuses('APPROVAL_CONSUMED');
    given(grantKeys, granted(g2, { used }))
      .when((grantKey) => issueGrant(ask({ grant: g1, consumed: approval(true) }), grantKey))
      .refuses('APPROVAL_CONSUMED');
    given(grantKeys)
      .when((grantKey) =>
        issueGrant(ask({ grant: g1, consumed: approval(true), now: at(300) }), grantKey),
      )
      .refuses('APPROVAL_CONSUMED');
  });
});
