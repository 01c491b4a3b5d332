/** Attacks by a provider, by a browser or by a third party in between do not create a session. */
import { generateKeyPairSync } from 'node:crypto';
import { testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Account, type IdentityFixture, identityFixture } from './identity-fixture.ts';
import { type Claims, OTHER_CLIENT } from './published-providers.ts';
import {
  knownAt,
  newPerson,
  PAGE,
  type SocialFixture,
  type SocialProvider,
  socialFixture,
} from './social-fixture.ts';

const database = testDatabase();
let fixture: IdentityFixture;
let social: SocialFixture;
let ann: Account;
beforeAll(async () => {
  fixture = await identityFixture(database.url, { RATE_LIMIT_FACTOR: '10000' });
  social = await socialFixture(fixture);
  ann = await fixture.signUp();
  await social.setUp(ann);
});
afterAll(async () => {
  await social?.stop();
  await fixture?.stop();
});

const told = ({ status, code }: { status: number; code: string | undefined }) =>
  `${status} ${code}`;
/** The sessions and accounts that resulted. */
async function gained(work: () => Promise<void>): Promise<readonly string[]> {
  const position = await fixture.head();
  await work();
  const types = (await fixture.eventsSince(position)).map(({ type }) => type);
  return types.filter((type) => /^(SessionStarted|UserRegistered|IdentityLinked)$/.test(type));
}
const known = (provider: SocialProvider = 'google') => {
  const person = newPerson();
  knownAt(social, provider, person);
  return person;
};
const begin = (provider: SocialProvider = 'google') => social.begin(provider, ann.tenantId);

describe('the way back from a provider', () => {
  it.each(['google', 'github'] as const)(
    'identity 12 with the state of another browser, none or a changed one ends nowhere (%s)',
    async (provider) => {
      known(provider);
      const [own, other] = [await begin(provider), await begin(provider)];
      const back = await social.atProvider(own.url);
      const changed = new URL(back);
      changed.searchParams.set('state', 'x'.repeat(43));
      const without = new URL(back);
      without.searchParams.delete('state');
      const events = await gained(async () => {
        for (const [url, cookie] of [
          [back, other.cookie],
          [back, ''],
          [changed, own.cookie],
          [without, own.cookie],
        ] as const) {
          expect(told(await social.callback(url, cookie))).toBe('400 invalid_state');
        }
      });
      expect(events).toEqual([]);
    },
  );

  it('is taken from six tabs of one browser in any order, but for the oldest [identity-22]', async () => {
    known();
    const jar = new Map<string, string>();
    const shown = () => [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const keep = (sets: readonly string[]) => {
      for (const set of sets) {
        const [name = '', value = ''] = set.split(';')[0]?.split('=') ?? [];
        if (set.includes('Max-Age=0')) jar.delete(name);
        else jar.set(name, value);
      }
    };
    const backs: URL[] = [];
    for (let tab = 0; tab < 6; tab += 1) {
      const url = `${fixture.baseUrl}/api/v1/auth/social/google/authorize?tenant_id=${ann.tenantId}`;
      const answer = await fetch(url, { redirect: 'manual', headers: { cookie: shown() } });
      keep(answer.headers.getSetCookie());
      backs.push(await social.atProvider(new URL(answer.headers.get('location') ?? '')));
      fixture.clock.move(1);
    }
    const [oldest, ...others] = backs;
    for (const back of [oldest, ...others.toReversed()]) {
      const answer = await social.callback(back ?? new URL(''), shown());
      keep(answer.headers.getSetCookie());
      const expected = back === oldest ? '400 invalid_state' : '200 undefined';
      expect(told(answer)).toBe(expected);
    }
    expect([...jar]).toEqual([]);
  });

  it('identity 12 works once, and for ten minutes', async () => {
    known();
    const { url, cookie } = await begin();
    const back = await social.atProvider(url);
    expect((await social.callback(back, cookie)).status).toBe(200);
    expect(told(await social.callback(back, cookie))).toBe('400 invalid_state');
    const late = await begin();
    const lateBack = await social.atProvider(late.url);
    fixture.clock.move(10 * 60_000);
    expect(told(await social.callback(lateBack, late.cookie))).toBe('400 invalid_state');
  });

  it('identity 12 of fifty at once works once', async () => {
    known();
    const { url, cookie } = await begin();
    const back = await social.atProvider(url);
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => social.callback(back, cookie)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it('identity 12 does not go to the page of one provider with the code of another', async () => {
    known();
    const { url, cookie } = await begin();
    const back = await social.atProvider(url);
    back.pathname = back.pathname.replace('google', 'microsoft');
    expect(told(await social.callback(back, cookie))).toBe('400 invalid_state');
  });

  it.each(['google', 'github', 'microsoft'] as const)(
    'identity 12 names the issuer that was asked, where it names one (%s) [identity-22]',
    async (provider) => {
      for (const iss of ['https://evil.example', 'https://github.com']) {
        known(provider);
        const { url, cookie } = await begin(provider);
        const back = await social.atProvider(url);
        back.searchParams.set('iss', iss);
        expect(told(await social.callback(back, cookie))).toBe('401 social_sign_in_failed');
      }
    },
  );

  it.each([true, false])(
    'signs in with and without the issuer in the answer of authorization (%s) [identity-22]',
    async (sendsIssuer) => {
      const { issuer, github } = social;
      const before = [issuer.sendsIssuer, github.sendsIssuer] as const;
      [issuer.sendsIssuer, github.sendsIssuer] = [sendsIssuer, sendsIssuer];
      try {
        for (const provider of ['google', 'github', 'microsoft'] as const) {
          known(provider);
          expect(told(await social.signIn(provider, ann.tenantId))).toBe('200 undefined');
        }
      } finally {
        [issuer.sendsIssuer, github.sendsIssuer] = before;
      }
    },
  );

  it.each(['google', 'github'] as const)(
    'identity 12 with a code that was meant for another browser gives nothing (%s)',
    async (provider) => {
      const victim = known(provider);
      const stolen = await social.atProvider((await begin(provider)).url);
      known(provider);
      const { url, cookie } = await begin(provider);
      const back = await social.atProvider(url);
      back.searchParams.set('code', stolen.searchParams.get('code') ?? '');
      const events = await gained(async () => {
        expect(told(await social.callback(back, cookie))).toBe('401 social_sign_in_failed');
      });
      expect(events).toEqual([]);
      expect(victim.email).not.toBe('');
    },
  );

  it('identity 12 with a code that was issued to another application gives nothing', async () => {
    known();
    const { url, cookie } = await begin();
    const others = new URL(url);
    others.searchParams.set('client_id', OTHER_CLIENT.id);
    const back = await social.atProvider(others);
    expect(told(await social.callback(back, cookie))).toBe('401 social_sign_in_failed');
  });

  it('says that the person declined, at the page that they came from', async () => {
    known();
    const { url, cookie } = await social.begin('google', ann.tenantId, PAGE);
    const back = await social.atProvider(url);
    back.searchParams.delete('code');
    back.searchParams.set('error', 'access_denied');
    const { status, fragment } = await social.callback(back, cookie);
    expect({ status, fragment }).toEqual({ status: 302, fragment: { error: 'access_denied' } });
  });
});

describe('an ID token', () => {
  const { privateKey: foreign } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const signed = (claims: object) => social.issuer.signed(claims);
  const now = () => Math.floor(Date.now() / 1_000);
  it.each([
    { name: 'the one that was issued', forge: signed, answer: '200 undefined' },
    {
      name: 'one of another issuer',
      forge: (claims: Claims) => signed({ ...claims, iss: 'https://evil.example' }),
    },
    {
      name: 'one for another application',
      forge: (claims: Claims) => signed({ ...claims, aud: OTHER_CLIENT.id }),
    },
    {
      name: 'one with the nonce of another sign-in',
      forge: (claims: Claims) => signed({ ...claims, nonce: 'another' }),
    },
    {
      name: 'one without a nonce',
      forge: ({ nonce: _nonce, ...claims }: Claims) => signed(claims),
    },
    {
      name: 'an old one',
      forge: (claims: Claims) => signed({ ...claims, iat: now() - 7_200, exp: now() - 3_600 }),
    },
    {
      name: 'one with the signature of somebody else',
      forge: (claims: Claims) => social.issuer.signed(claims, foreign),
    },
    {
      name: 'one without a signature',
      forge: (claims: Claims) => signed(claims).replace(/[^.]+$/, ''),
    },
  ])('identity 12 is $name: $answer', async ({ forge, answer = '401 social_sign_in_failed' }) => {
    known();
    social.issuer.forged = forge;
    try {
      const events = await gained(async () => {
        expect(told(await social.signIn('google', ann.tenantId))).toBe(answer);
      });
      expect(events.length > 0).toBe(answer.startsWith('200'));
    } finally {
      social.issuer.forged = undefined;
    }
  });
});

describe('another account of the provider', () => {
  it('identity 12 with the same address is not taken for the one that is linked', async () => {
    const bob = known();
    expect((await social.signIn('google', ann.tenantId)).status).toBe(200);
    knownAt(social, 'google', { ...bob, id: newPerson().id });
    const events = await gained(async () => {
      const answer = await social.signIn('google', ann.tenantId);
      expect(told(answer)).toBe('403 other_identity');
    });
    expect(events).toEqual([]);
  });

  it('identity 12 is somebody else in each tenant', async () => {
    known();
    const here = await social.signIn('google', ann.tenantId);
    const eve = await fixture.signUp('eve');
    await social.setUp(eve);
    const there = await social.signIn('google', eve.tenantId);
    expect(there.body.is_new_user).toBe(true);
    expect(there.body.user_id).not.toBe(here.body.user_id);
  });
});

describe('a provider that is away', () => {
  it('is told as that, and the sign-in can be tried again', async () => {
    const eve = await fixture.signUp('eve');
    const client = { client_id: 'a', client_secret: 'b', endpoint: 'http://127.0.0.1:9' };
    await social.setUp(eve, { social: { google: client, github: client } });
    const answer = await social.authorize('google', { tenant_id: eve.tenantId });
    expect(answer.status).toBe(503);
    const { cookie } = await social.begin('github', eve.tenantId);
    expect(cookie).toMatch(/^__Host-social-\w{8}=/);
  });
});

it('endpoints of providers are those of development alone', async () => {
  const production = await identityFixture(database.url, {
    ENV: 'production',
    RATE_LIMIT_FACTOR: '10000',
  });
  try {
    const eve = await production.signUp('eve');
    const google = { client_id: 'a', client_secret: 'b', endpoint: social.issuer.url };
    const path = `/api/v1/admin/tenants/${eve.tenantId}`;
    const answer = await production.as(eve).patch(path, { settings: { social: { google } } });
    expect(told(answer)).toBe('400 invalid_request');
  } finally {
    await production.stop();
  }
});
