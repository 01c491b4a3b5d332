/** Passwords from known leaks, and the account's previous passwords. */
import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type RestAnswer, testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { breachedPasswords } from '../src/adapters/breached-passwords.ts';
import {
  type Account,
  type IdentityFixture,
  identityFixture,
  PASSWORD,
} from './identity-fixture.ts';

const LEAKED = 'leaked long ago';
const database = testDatabase();
let fixture: IdentityFixture;
let ranges: Server;
let asked: string[];
let answers: 'at once' | 'never' | 'with an error';
let owner: Account;
const digestOf = (password: string) =>
  createHash('sha1').update(password).digest('hex').toUpperCase();

beforeAll(async () => {
  ranges = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers['add-padding']}`);
    if (answers === 'never') return;
    const digest = digestOf(LEAKED);
    const padding = `${digestOf('seen nowhere yet').slice(5)}:0`;
    const lines = [`${'0'.repeat(35)}:3`, `${digest.slice(5)}:17`, padding].join('\r\n');
    response.statusCode = answers === 'at once' ? 200 : 503;
    response.end(lines);
  });
  await new Promise<void>((resolve) => ranges.listen(0, '127.0.0.1', resolve));
  const { port } = ranges.address() as AddressInfo;
  const drivers = { breachedPasswords: breachedPasswords(`http://127.0.0.1:${port}/range`) };
  const env = { RATE_LIMIT_FACTOR: '100000', HASH_CONCURRENCY: '4' };
  fixture = await identityFixture(database.url, env, undefined, drivers);
});
afterAll(async () => {
  ranges?.closeAllConnections();
  ranges?.close();
  await fixture?.stop();
});
beforeEach(async () => {
  asked = [];
  answers = 'at once';
  owner = await fixture.signUp();
});

const told = ({ status, code }: RestAnswer) => `${status} ${code}`;
const setPolicy = async (password_policy: object) => {
  const path = `/api/v1/admin/tenants/${owner.tenantId}`;
  const answer = await fixture.as(owner).patch(path, { settings: { password_policy } });
  expect(answer.status).toBe(200);
};
const change = (of: Account, current_password: string, new_password: string) =>
  fixture.as(of).post('/api/v1/user/change-password', { current_password, new_password });
async function reset({ email, tenantId: tenant }: Account, new_password: string) {
  await fixture.rest.delete('/dev/mailbox');
  await fixture.rest.post('/api/v1/auth/forgot-password', { email }, { tenant });
  const { token } = await fixture.mail(email, /password/i);
  return {
    first: await fixture.rest.post('/api/v1/auth/reset-password', { token, new_password }),
    again: (other: string) =>
      fixture.rest.post('/api/v1/auth/reset-password', { token, new_password: other }),
  };
}
const register = (password: string) => {
  const email = `person.${crypto.randomUUID()}@example.com`;
  const { tenantId: tenant } = owner;
  return fixture.rest.post('/api/v1/auth/register', { email, password }, { tenant });
};

describe('a password that is known from a leak', () => {
  it('is refused however it is set, where the owner says so', async () => {
    await setPolicy({ breach_check: true });
    expect(told(await register(LEAKED))).toBe('400 password_breached');
    const bob = await fixture.register(owner.tenantId);
    expect(told(await change(bob, PASSWORD, LEAKED))).toBe('400 password_breached');
    const { first, again } = await reset(bob, LEAKED);
    expect(told(first)).toBe('400 password_breached');
    // The link was not consumed.
    expect((await again('a fine new password')).status).toBe(200);
    const email = `new.${bob.email}`;
    const made = await fixture.as(owner).post('/api/v1/admin/users', { email, password: LEAKED });
    expect(told(made)).toBe('400 password_breached');
  });

  it('is told to nobody: five digits of a hash are sent, and the answer is padded', async () => {
    await setPolicy({ breach_check: true });
    await register(LEAKED);
    expect(asked).toEqual([`/range/${digestOf(LEAKED).slice(0, 5)} true`]);
    // A padding line is not a leak.
    expect((await register('seen nowhere yet')).status).toBe(201);
  });

  it('is taken where nobody is asked, or nobody answers', async () => {
    expect((await register(LEAKED)).status).toBe(201);
    expect(asked).toEqual([]);
    await setPolicy({ breach_check: true });
    for (const state of ['never', 'with an error'] as const) {
      answers = state;
      expect((await register(LEAKED)).status).toBe(201);
    }
    expect(asked).toHaveLength(2);
  });
});

describe('a password that the account had before', () => {
  const PASSWORDS = ['the first of them', 'the second of them', 'the third of them'] as const;

  it('is not set again within the history, by a change or a reset', async () => {
    await setPolicy({ history: 3 });
    const bob = await fixture.register(owner.tenantId);
    const [first, second, third] = PASSWORDS;
    expect(told(await change(bob, PASSWORD, PASSWORD))).toBe('400 password_reused');
    expect((await change(bob, PASSWORD, first)).status).toBe(200);
    expect((await change(bob, first, second)).status).toBe(200);
    for (const old of [PASSWORD, first, second]) {
      expect(told(await change(bob, second, old))).toBe('400 password_reused');
    }
    const { first: refused, again } = await reset(bob, first);
    expect(told(refused)).toBe('400 password_reused');
    expect((await again(third)).status).toBe(200);
    // Three later passwords have been set since.
    expect((await reset(bob, PASSWORD)).first.status).toBe(200);
  });

  it('is told to nobody who does not know the current one', async () => {
    await setPolicy({ history: 10 });
    const bob = await fixture.register(owner.tenantId);
    expect((await change(bob, PASSWORD, PASSWORDS[0])).status).toBe(200);
    expect(told(await change(bob, 'not the password', PASSWORD))).toBe('401 invalid_credentials');
  });

  it('is set again where the owner asks for no history', async () => {
    const bob = await fixture.register(owner.tenantId);
    expect((await change(bob, PASSWORD, PASSWORD)).status).toBe(200);
  });
});
