import { describe, expect, it } from 'vitest';
import {
  endedSocialCookie,
  type PendingSocialSignIn,
  pendingOfCookie,
  SOCIAL_COOKIES_MAX,
  SOCIAL_SIGN_IN_MS,
  socialCookies,
} from './social-cookie.ts';

const now = new Date('2026-01-01T10:00:00Z');
const key = (byte: number) => Buffer.alloc(32, byte);
const keys = { current: key(1), previous: undefined };
const pendingOf = (state: string, more: object = {}): PendingSocialSignIn => ({
  ...{ tenantId: 't1', state, nonce: 'n', verifier: 'v', redirectUri: null },
  provider: 'google',
  expiresAt: now.getTime() + SOCIAL_SIGN_IN_MS,
  ...more,
});
const none = { header: undefined, keys, now };
const pairOf = (set = '') => set.split(';')[0] ?? '';
const pending = pendingOf('s');
const [sent = ''] = socialCookies(pending, none);
const header = `other=1; ${pairOf(sent)}`;

/** Stores cookies as a browser does. */
function jar() {
  const kept = new Map<string, string>();
  const header = () => [...kept].map(([name, value]) => `${name}=${value}`).join('; ');
  return {
    header,
    names: () => [...kept.keys()],
    take: (sets: readonly string[]) => {
      for (const set of sets) {
        const [name = '', value = ''] = pairOf(set).split('=');
        if (set.includes('Max-Age=0')) kept.delete(name);
        else kept.set(name, value);
      }
    },
  };
}

describe('the cookie of a sign-in by a provider', () => {
  it('is for this host alone, and tells whoever reads it nothing', () => {
    expect(sent).toMatch(
      /^__Host-social-[0-9a-f]{8}=[\w-]+; Path=\/; Max-Age=600; Secure; HttpOnly; SameSite=Lax$/,
    );
    expect(Buffer.from(header.split('=')[2] ?? '', 'base64url').toString()).not.toContain('google');
  });

  it('is read back, after a change of the secret too', () => {
    expect(pendingOfCookie('s', { header, keys, now })).toEqual(pending);
    const rotated = { current: key(2), previous: key(1) };
    expect(pendingOfCookie('s', { header, keys: rotated, now })).toEqual(pending);
  });

  it('is worth nothing when it is missing, changed, of another state, of another key or old', () => {
    const late = new Date(now.getTime() + SOCIAL_SIGN_IN_MS);
    const changed = `${header.slice(0, -2)}${header.endsWith('AA') ? 'BB' : 'AA'}`;
    const renamed = header.replace(/social-\w{8}/, endedSocialCookie('x').slice(7, 22));
    expect(pendingOfCookie('s', none)).toBeUndefined();
    expect(pendingOfCookie('s', { ...none, header: '__Host-social-00000000=' })).toBeUndefined();
    expect(pendingOfCookie('s', { ...none, header: changed })).toBeUndefined();
    expect(pendingOfCookie('x', { ...none, header })).toBeUndefined();
    expect(pendingOfCookie('x', { ...none, header: renamed })).toBeUndefined();
    const foreign = { ...keys, current: key(2) };
    expect(pendingOfCookie('s', { header, keys: foreign, now })).toBeUndefined();
    expect(pendingOfCookie('s', { header, keys, now: late })).toBeUndefined();
  });

  it('is one of each sign-in, and of more than five the oldest goes [identity-22]', () => {
    const browser = jar();
    const states = Array.from({ length: SOCIAL_COOKIES_MAX + 1 }, (_, at) => `state ${at}`);
    for (const [at, state] of states.entries()) {
      const expiresAt = now.getTime() + SOCIAL_SIGN_IN_MS + at;
      const sentNow = { header: browser.header(), keys, now };
      browser.take(socialCookies(pendingOf(state, { expiresAt }), sentNow));
    }
    const [first = '', ...others] = states;
    const sentNow = { header: browser.header(), keys, now };
    expect(pendingOfCookie(first, sentNow)).toBeUndefined();
    for (const state of others) expect(pendingOfCookie(state, sentNow)?.state).toBe(state);
    browser.take([endedSocialCookie('state 3')]);
    expect(browser.names()).toHaveLength(SOCIAL_COOKIES_MAX - 1);
  });

  it('never makes the header of the browser too large', () => {
    const browser = jar();
    const redirectUri = `https://app.example/${'x'.repeat(2_000)}`;
    for (let at = 0; at < SOCIAL_COOKIES_MAX; at += 1) {
      const sentNow = { header: browser.header(), keys, now };
      browser.take(socialCookies(pendingOf(`state ${at}`, { redirectUri }), sentNow));
    }
    expect(browser.header().length).toBeLessThan(6 * 1_024);
    const sentNow = { header: browser.header(), keys, now };
    expect(pendingOfCookie('state 4', sentNow)?.redirectUri).toBe(redirectUri);
  });

  it('that cannot be read any more is removed', () => {
    const stale = `__Host-social-0000beef=AAAA; ${pairOf(sent)}`;
    const sets = socialCookies(pendingOf('next'), { header: stale, keys, now });
    expect(sets.filter((set) => set.includes('Max-Age=0'))).toEqual([
      expect.stringContaining('__Host-social-0000beef=;'),
    ]);
  });
});
