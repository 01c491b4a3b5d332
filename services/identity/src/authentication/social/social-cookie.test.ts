import { describe, expect, it } from 'vitest';
import {
  type PendingSocialSignIn,
  pendingOfCookie,
  SOCIAL_SIGN_IN_MS,
  socialCookie,
} from './social-cookie.ts';

const now = new Date('2026-01-01T10:00:00Z');
const key = (byte: number) => Buffer.alloc(32, byte);
const keys = { current: key(1), previous: undefined };
const pending: PendingSocialSignIn = {
  ...{ tenantId: 't1', state: 's', nonce: 'n', verifier: 'v', redirectUri: null },
  provider: 'google',
  expiresAt: now.getTime() + SOCIAL_SIGN_IN_MS,
};
const sent = socialCookie(pending, keys);
const shown = `other=1; ${sent.split(';')[0]}`;

describe('the cookie of a sign-in by a provider', () => {
  it('is for this host alone, and tells whoever reads it nothing', () => {
    expect(sent).toMatch(
      /^__Host-social=[\w-]+; Path=\/; Max-Age=600; Secure; HttpOnly; SameSite=Lax$/,
    );
    expect(Buffer.from(shown.split('=')[2] ?? '', 'base64url').toString()).not.toContain('google');
  });

  it('is read back, after a change of the secret too', () => {
    expect(pendingOfCookie(shown, { keys, now })).toEqual(pending);
    const rotated = { current: key(2), previous: key(1) };
    expect(pendingOfCookie(shown, { keys: rotated, now })).toEqual(pending);
  });

  it('is worth nothing when it is missing, changed, of another key or old', () => {
    const late = new Date(now.getTime() + SOCIAL_SIGN_IN_MS);
    const changed = `${shown.slice(0, -2)}${shown.endsWith('AA') ? 'BB' : 'AA'}`;
    expect(pendingOfCookie(undefined, { keys, now })).toBeUndefined();
    expect(pendingOfCookie('__Host-social=', { keys, now })).toBeUndefined();
    expect(pendingOfCookie(changed, { keys, now })).toBeUndefined();
    expect(pendingOfCookie(shown, { keys: { ...keys, current: key(2) }, now })).toBeUndefined();
    expect(pendingOfCookie(shown, { keys, now: late })).toBeUndefined();
  });
});
