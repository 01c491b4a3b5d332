/** Plays the rows of the contract's tables, with every person that the rows need. */
import { type RestAnswer, type RestDriver, testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Account } from './identity-fixture.ts';
import { application, authorized, type OAuthFixture, oauthFixture } from './oauth-fixture.ts';
import { newPerson, type SocialFixture, socialFixture } from './social-fixture.ts';

export const AUTH = '/api/v1/auth';
export const TOKENS = ['access_token', 'expires_in', 'refresh_token', 'user_id'];
export const NEW_PASSWORD = 'another password of theirs';

/** A test for each row, named by the row's call. */
export type Rows = { readonly [call: string]: () => Promise<void> };

export function playRows(table: string, rows: Rows): void {
  describe(`identity 1 rows of table ${table} of the contract`, () => {
    it.each(Object.entries(rows))('identity 1 %s', (_call, play) => play());
  });
}

export const body = ({ status, body: answered }: RestAnswer, expected = 200) => {
  expect(status).toBe(expected);
  return answered;
};
export const refusal = ({ status, code }: RestAnswer) => `${status} ${code}`;
export const keys = (of: object) => Object.keys(of).toSorted();
export const newEmail = () => newPerson().email.replace('bob', 'new');

/** Call it once, at the top of a file. */
export function contractFixture() {
  const database = testDatabase();
  let fixture: OAuthFixture;
  let social: SocialFixture;
  let admin: Account;
  beforeAll(async () => {
    fixture = await oauthFixture(database.url, { RATE_LIMIT_FACTOR: '10000' });
    social = await socialFixture(fixture);
    admin = await fixture.signUp();
    await social.setUp(admin, {
      auth_methods: ['password', 'passkeys', 'magic_link', 'otp', 'google', 'github', 'microsoft'],
    });
  });
  afterAll(async () => {
    await social?.stop();
    await fixture?.stop();
  });
  const inTenant = (): RestDriver => fixture.rest.as({ tenant: admin.tenantId });
  const newcomer = () => fixture.register(admin.tenantId);
  return {
    database,
    get fixture() {
      return fixture;
    },
    get social() {
      return social;
    },
    get admin() {
      return admin;
    },
    inTenant,
    newcomer,
    linkIn: async (to: string, about: RegExp) => (await fixture.mail(to, about)).token,
    later: async (ms: number, play: () => Promise<void>) => {
      fixture.clock.move(ms);
      try {
        await play();
      } finally {
        fixture.clock.move(-ms);
      }
    },
    codeFor: async (email: string) => {
      const sent = body(await inTenant().post(`${AUTH}/otp/send`, { email }));
      const mail = (await fixture.mail(email, /code/)) as unknown as { readonly code: string };
      return { sent, code: mail.code };
    },
    /** A person who has granted an application consent. */
    consented: async () => {
      const account = await newcomer();
      const client = await application(fixture, admin, { scopes: ['openid', 'email'] });
      const more = { scope: 'openid email' };
      return { account, client, app: await authorized(fixture, { client, account, more }) };
    },
  };
}
