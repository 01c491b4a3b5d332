import { describe, expect, it } from 'vitest';
import type { User } from '../user.ts';
import { unlinkIdentity } from './unlink-identity.ts';

const now = new Date('2026-01-01T10:00:00Z');
const google = { provider: 'google', hash: 'x1', linkedAt: now.toISOString() } as const;
const github = { provider: 'github', hash: 'x2', linkedAt: now.toISOString() } as const;
const ann = {
  ...{ id: 'ann', status: 'active', passwordHash: null, identities: [google] },
  secondFactors: { factors: [], recoveryId: null },
} as unknown as User;
const unlink = (user: User) => unlinkIdentity({ provider: 'google', now }, user);

describe('an account elsewhere', () => {
  it.each([
    { has: 'a password', more: { passwordHash: { subject: 's', box: 'b' } } },
    { has: 'a passkey', more: { secondFactors: { factors: [{ id: 'f', type: 'passkey' }] } } },
    { has: 'another one', more: { identities: [google, github] } },
  ])('is given up by whoever has $has', ({ more }) => {
    const providers = 'identities' in more ? ['github'] : [];
    const data = { id: 'ann', provider: 'google', hash: 'x1', providers, at: now.toISOString() };
    expect(unlink({ ...ann, ...more } as User)).toEqual({
      accepted: true,
      events: [{ type: 'IdentityUnlinked', data }],
    });
  });

  it('is not given up where it is the only way to sign in, or not there', () => {
    expect(unlink(ann)).toMatchObject({ reason: 'last_credential' });
    expect(unlink({ ...ann, identities: [] } as User)).toMatchObject({ reason: 'not_found' });
    expect(unlink({ status: 'none' })).toMatchObject({ reason: 'not_found' });
  });
});
