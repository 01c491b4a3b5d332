import type { RestAnswer } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { type Account, identityOfFile, PASSWORD } from './identity-fixture.ts';

const COMMON = 'password';
const { fixture, admin: owner } = identityOfFile({
  RATE_LIMIT_FACTOR: '100000',
  HASH_CONCURRENCY: '4',
});
let count = 0;

const told = ({ status, code }: RestAnswer) => `${status} ${code}`;
const newEmail = () => {
  count += 1;
  return `person${count}@example.com`;
};
const pathOf = ({ tenantId }: Account) => `/api/v1/admin/tenants/${tenantId}`;
const setPolicy = (of: Account, password_policy: object) =>
  fixture.as(of).patch(pathOf(of), { settings: { password_policy } });

/** Every method to set a new password in a tenant. */
const WAYS: readonly {
  readonly way: string;
  readonly set: (of: Account, password: string) => Promise<RestAnswer>;
}[] = [
  {
    way: 'registering',
    set: ({ tenantId: tenant }, password) =>
      fixture.rest.post('/api/v1/auth/register', { email: newEmail(), password }, { tenant }),
  },
  {
    way: 'changing it',
    set: async ({ tenantId }, password) => {
      const body = { current_password: PASSWORD, new_password: password };
      return fixture
        .as(await fixture.register(tenantId))
        .post('/api/v1/user/change-password', body);
    },
  },
  {
    way: 'resetting it',
    set: async ({ tenantId: tenant }, password) => {
      const { email } = await fixture.register(tenant);
      await fixture.rest.post('/api/v1/auth/forgot-password', { email }, { tenant });
      const { token } = await fixture.mail(email, /password/i);
      return fixture.rest.post('/api/v1/auth/reset-password', { token, new_password: password });
    },
  },
  {
    way: 'an administrator',
    set: (of, password) =>
      fixture.as(of).post('/api/v1/admin/users', { email: newEmail(), password }),
  },
];

describe('the password policy of a tenant', () => {
  it('is eight characters and nothing else until it is set', async () => {
    const { body } = await fixture.as(owner).get(pathOf(owner));
    expect(body.settings.password_policy).toEqual({
      min: 8,
      common: 'allow',
      zxcvbn_score: null,
      breach_check: false,
      history: 0,
    });
    for (const { set } of WAYS) expect((await set(owner, COMMON)).status).toBeLessThan(300);
  });

  it('refuses common passwords, however they are set, once its owner says so, and of its own tenant alone', async () => {
    const strict = await fixture.signUp('strict');
    const changed = await setPolicy(strict, { common: 'refuse' });
    expect([changed.status, changed.body.settings.password_policy]).toEqual([
      200,
      { min: 8, common: 'refuse', zxcvbn_score: null, breach_check: false, history: 0 },
    ]);
    for (const { set } of WAYS) {
      for (const password of [COMMON, 'PassWord1']) {
        expect(told(await set(strict, password))).toBe('400 password_too_weak');
      }
      expect((await set(strict, 'dragon boat at noon')).status).toBeLessThan(300);
    }
    expect((await WAYS[0]?.set(owner, COMMON))?.status).toBe(201);
    await setPolicy(strict, { common: 'allow' });
    expect((await WAYS[0]?.set(strict, COMMON))?.status).toBe(201);
  });

  it('asks for as many characters as its owner says, from 8 to 64', async () => {
    const long = await fixture.signUp('long');
    expect((await setPolicy(long, { min: 20 })).status).toBe(200);
    for (const { set } of WAYS) {
      expect(told(await set(long, 'x'.repeat(19)))).toBe('400 password_too_short');
    }
    expect((await WAYS[0]?.set(long, 'x'.repeat(20)))?.status).toBe(201);
    for (const policy of [
      { min: 7 },
      { min: 65 },
      { min: 8.5 },
      { zxcvbn_score: 0 },
      { zxcvbn_score: 5 },
      { common: 'maybe' },
      { more: 1 },
      { history: 11 },
      { history: -1 },
      { breach_check: 1 },
    ]) {
      expect(told(await setPolicy(long, policy))).toBe('400 invalid_request');
    }
  });

  it('asks for what is hard to guess once its owner says so, however it is set', async () => {
    const hard = await fixture.signUp('hard');
    expect((await setPolicy(hard, { zxcvbn_score: 3 })).status).toBe(200);
    for (const { set } of WAYS) {
      expect(told(await set(hard, 'qwertyuiop'))).toBe('400 password_too_weak');
      expect((await set(hard, 'dragon boat at noon')).status).toBeLessThan(300);
    }
  });

  it('is set by owners of the organization alone', async () => {
    const member = await fixture.register(owner.tenantId);
    const body = { settings: { password_policy: { min: 10 } } };
    expect((await fixture.as(member).patch(pathOf(owner), body)).status).toBe(403);
    const stranger = await fixture.signUp('stranger');
    expect(told(await fixture.as(stranger).patch(pathOf(owner), body))).toBe('404 not_found');
    expect(told(await fixture.as(stranger).get(pathOf(owner)))).toBe('404 not_found');
  });
});
