import { describe, expect, it } from 'vitest';
import { decideLogout, type LogoutRequest, withState } from './logout-request.ts';

const URI = 'https://shop.example/bye';
const ann = { tenantId: 'tenant', userId: 'ann' };
const hint = { status: 'verified', clientId: 'shop', ...ann } as const;
const unverified = { status: 'unverified' } as const;
const none = { status: 'none' } as const;
const of = (more: Partial<LogoutRequest>): LogoutRequest => ({
  hint: none,
  clientId: undefined,
  redirectUri: undefined,
  registeredUris: undefined,
  signedIn: ann,
  ...more,
});
const shop = { clientId: 'shop', registeredUris: [URI], redirectUri: URI };
const hinted = { hint, registeredUris: [URI], redirectUri: URI };
const BACK = { to: URI };
const PAGE = { to: undefined };

describe('a request to sign out', () => {
  it.each<[string, Partial<LogoutRequest>, object]>([
    ['a hint', hinted, { status: 'sign_out', ...BACK }],
    ['a hint and its client', { ...hinted, ...shop }, { status: 'sign_out', ...BACK }],
    [
      'a hint without an address',
      { ...hinted, redirectUri: undefined },
      { status: 'sign_out', ...PAGE },
    ],
    ['nothing', {}, { status: 'ask', ...PAGE }],
    ['a client', shop, { status: 'ask', ...BACK }],
    ['an address alone', { redirectUri: URI }, { status: 'ask', ...PAGE }],
    ['a broken hint', { hint: unverified }, { status: 'ask', ...PAGE }],
    ['a broken hint and a client', { ...shop, hint: unverified }, { status: 'ask', ...PAGE }],
    [
      "another person's hint",
      { ...hinted, hint: { ...hint, userId: 'bob' } },
      { status: 'ask', ...PAGE },
    ],
    [
      "another person's hint and its client",
      { ...shop, hint: { ...hint, userId: 'bob' } },
      { status: 'ask', ...BACK },
    ],
    [
      "another tenant's hint",
      { ...hinted, hint: { ...hint, tenantId: 'other' } },
      { status: 'ask', ...PAGE },
    ],
    ['a hint and another client', { ...hinted, clientId: 'other' }, { status: 'refused' }],
    ['an address of nobody', { ...hinted, registeredUris: [] }, { status: 'refused' }],
    ['a client and an address of nobody', { ...shop, registeredUris: [] }, { status: 'refused' }],
    [
      'a broken hint, a client and an address of nobody',
      { ...shop, hint: unverified, registeredUris: [] },
      { status: 'refused' },
    ],
    ['an unknown client', { clientId: 'nobody' }, { status: 'refused' }],
  ])('with %s [oauth 35]', (_name, request, outcome) => {
    expect(decideLogout(of(request))).toEqual(outcome);
  });

  it.each<[string, Partial<LogoutRequest>, object]>([
    ['a hint', hinted, { status: 'sign_out', ...BACK }],
    ['a client', shop, { status: 'sign_out', ...BACK }],
    ['a broken hint', { ...shop, hint: unverified }, { status: 'sign_out', ...PAGE }],
    ['nothing', {}, { status: 'sign_out', ...PAGE }],
    ['an address of nobody', { ...hinted, registeredUris: [] }, { status: 'refused' }],
  ])(
    'with %s, where nobody is signed in, is as if just signed out [oauth 35]',
    (_name, request, outcome) => {
      expect(decideLogout(of({ ...request, signedIn: undefined }))).toEqual(outcome);
    },
  );

  it.each([
    [URI, undefined, URI],
    [URI, 'a b&c', `${URI}?state=a+b%26c`],
    [`${URI}?x=%7e`, 's', `${URI}?x=%7e&state=s`],
    [`${URI}?`, 's', `${URI}?state=s`],
    ['com.shop:/bye', 's', 'com.shop:/bye?state=s'],
  ])('goes back to %s with the state %s, byte for byte [oauth 35]', (uri, state, whole) => {
    expect(withState(uri, state)).toBe(whole);
  });
});
