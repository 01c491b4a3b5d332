import { given } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { type ConsentEvent, consents, type Grant, grant } from './consent.ts';
import { revokeConsent } from './revoke/revoke.ts';

const now = new Date('2026-01-01T10:00:00.000Z');
const at = now.toISOString();
const of = { id: 'c', userId: 'ann', clientId: 'app' };
const ask = (granted: Grant['granted']): Grant => ({ ...of, granted, by: 'user', now });
const data = { id: 'c', user_id: 'ann', client_id: 'app', by: 'user', at } as const;
const granted: ConsentEvent = {
  type: 'ConsentGranted',
  data: { ...data, granted: { '': ['openid'] }, epoch: 1 },
};
const revoked: ConsentEvent = {
  type: 'ConsentRevoked',
  data: { id: 'c', user_id: 'ann', client_id: 'app', epoch: 1, at },
};

describe('a consent', () => {
  it('oauth 15 is granted, and extended only by what it lacks', () => {
    given(consents)
      .when((state) => grant(ask({ '': ['openid'] }), state))
      .accepts(granted);
    given(consents, granted)
      .when((state) => grant(ask({ '': ['openid'] }), state))
      .accepts();
    given(consents, granted)
      .when((state) => grant(ask({ '': ['email'], 'https://api': ['read'] }), state))
      .accepts({
        type: 'ConsentExtended',
        data: { ...data, granted: { '': ['openid', 'email'], 'https://api': ['read'] }, epoch: 1 },
      });
  });

  it('oauth 15 begins a new epoch after it was withdrawn, without what it granted before', () => {
    given(consents, granted, revoked)
      .when((state) => grant(ask({ '': ['email'] }), state))
      .accepts({
        type: 'ConsentGranted',
        data: { ...data, granted: { '': ['email'] }, epoch: 2 },
      });
  });

  it('standards 8 remembers the claims that were shown, and forgets what a name meant before', () => {
    const plan = { name: 'plan', from: 'public_metadata.plan' };
    const shown: ConsentEvent = {
      type: 'ConsentGranted',
      data: { ...data, granted: { '': ['openid'] }, claims: [plan], epoch: 1 },
    };
    const again = (...claims: NonNullable<Grant['claims']>) =>
      given(consents, shown).when((state) => grant({ ...ask({ '': ['openid'] }), claims }, state));
    given(consents)
      .when((state) => grant({ ...ask({ '': ['openid'] }), claims: [plan] }, state))
      .accepts(shown);
    again().accepts();
    again(plan).accepts();
    const other = { name: 'plan', from: 'private_metadata.plan' };
    const lang = { name: 'lang', from: 'locale' };
    again(other, lang).accepts({
      type: 'ConsentExtended',
      data: { ...data, granted: { '': ['openid'] }, claims: [other, lang], epoch: 1 },
    });
    given(consents, shown, revoked)
      .when((state) => grant(ask({ '': ['openid'] }), state))
      .accepts({
        type: 'ConsentGranted',
        data: { ...data, granted: { '': ['openid'] }, epoch: 2 },
      });
  });

  it('is withdrawn once, by its user alone', () => {
    given(consents, granted)
      .when((state) => revokeConsent({ userId: 'ann', now }, state))
      .accepts(revoked);
    given(consents, granted, revoked)
      .when((state) => revokeConsent({ userId: 'ann', now }, state))
      .refuses('not_found');
    given(consents, granted)
      .when((state) => revokeConsent({ userId: 'eve', now }, state))
      .refuses('not_found');
    given(consents)
      .when((state) => revokeConsent({ userId: 'ann', now }, state))
      .refuses('not_found');
  });

  it('never covers a scope of another resource', () => {
    given(consents, granted)
      .when((state) => grant(ask({ 'https://api': ['openid'] }), state))
      .accepts({
        type: 'ConsentExtended',
        data: { ...data, granted: { '': ['openid'], 'https://api': ['openid'] }, epoch: 1 },
      });
    expect(consents.initial).toEqual({ status: 'none' });
  });
});
