import type { FieldLocation } from '@cardea/crypto';
import { type RestAnswer, testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setPassword } from '../src/accounts/users/set-password.ts';
import { users } from '../src/accounts/users/user.ts';
import { argon2 } from '../src/adapters/argon2.ts';
import {
  type Account,
  type IdentityFixture,
  identityFixture,
  PASSWORD,
} from './identity-fixture.ts';

const database = testDatabase();
let fixture: IdentityFixture;
let admin: Account;
/** Awaited before a field of the account is encrypted, to simulate a process that stalls there. */
let beforeSealing: ((place: FieldLocation) => Promise<void>) | undefined;

beforeAll(async () => {
  fixture = await identityFixture(database.url, { RATE_LIMIT_FACTOR: '1000' });
  const { sealer } = fixture.host.needsOf('identity');
  const seal = sealer.seal.bind(sealer);
  Object.assign(sealer, {
    seal: async (...args: Parameters<typeof seal>) => {
      await beforeSealing?.(args[1]);
      return seal(...args);
    },
  });
  admin = await fixture.signUp();
});
afterAll(async () => {
  await fixture?.stop();
});

/** Makes the call, and deletes and erases the user just before it encrypts one of the user's fields. */
async function erasedMeanwhile(
  userId: string | undefined,
  field: string,
  call: () => Promise<RestAnswer>,
): Promise<RestAnswer> {
  let deletion: Promise<void> | undefined;
  beforeSealing = async (place) => {
    const subject = userId === undefined ? place.subject : `user:${userId}`;
    if (place.field !== field || place.subject !== subject) return;
    if (!subject.startsWith('user:')) return;
    deletion ??= erase(subject.slice('user:'.length));
    await deletion;
  };
  try {
    const answer = await call();
    expect(deletion, `${field} was sealed`).toBeDefined();
    return answer;
  } finally {
    beforeSealing = undefined;
  }
}

async function erase(userId: string): Promise<void> {
  const deleted = await fixture.as(admin).delete(`/api/v1/admin/users/${userId}`);
  expect(deleted.body).toEqual({ status: 'user deleted' });
  const { database: pool } = fixture.host.needsOf('identity');
  await untilTrue(
    async () => {
      const { rows } = await pool.asSystem((sql) =>
        sql.query<{ wrapped: Buffer | null }>(
          'SELECT wrapped FROM identity.subject_keys WHERE subject_id = $1',
          [`user:${userId}`],
        ),
      );
      return rows[0]?.wrapped === null;
    },
    { what: 'the erasure of the key' },
  );
}

/** Everything that a client receives, without values that differ in every call. */
const bare = ({ status, body }: RestAnswer) => ({
  status,
  error: { ...body.error, request_id: '' },
});

describe('an account that is erased while a call is under way', () => {
  it('signs in as an unknown one', async () => {
    const bob = await fixture.register(admin.tenantId);
    const answer = await erasedMeanwhile(bob.userId, 'user', () => fixture.logIn(bob));
    expect(answer).toMatchObject({ status: 401, code: 'invalid_credentials' });
    expect(bare(answer)).toEqual(
      bare(await fixture.logIn({ ...bob, email: 'nobody@example.com' })),
    );
  });

  it('signs in as an unknown one also where its hash is to be renewed', async () => {
    const bob = await fixture.register(admin.tenantId);
    const { streams, sealer, systemCommand, ids } = fixture.host.needsOf('identity');
    const outdated = await argon2({ memoryKib: 128, time: 1 }).hash(PASSWORD);
    const place = { subject: `user:${bob.userId}`, streamId: `user-${bob.userId}` };
    const hash = await sealer.seal(bob.tenantId, { ...place, field: 'password_hash' }, outdated);
    if (hash === 'erased') throw new Error('the account is there');
    const command = systemCommand(bob.tenantId, ids.next());
    await streams.decideOn(users, bob.userId, command, (user) =>
      setPassword({ hash, by: 'admin', keep: null, now: command.now }, user),
    );
    const answer = await erasedMeanwhile(bob.userId, 'password_hash', () => fixture.logIn(bob));
    expect(answer).toMatchObject({ status: 401, code: 'invalid_credentials' });
  });

  it('does not change its password', async () => {
    const bob = await fixture.register(admin.tenantId);
    const change = { current_password: PASSWORD, new_password: 'another good one' };
    const answer = await erasedMeanwhile(bob.userId, 'password_hash', () =>
      fixture.as(bob).post('/api/v1/user/change-password', change),
    );
    expect(answer).toMatchObject({ status: 401, code: 'invalid_credentials' });
  });

  it('does not reset its password by a mailed token', async () => {
    const bob = await fixture.register(admin.tenantId);
    const { tenantId: tenant, email } = bob;
    await fixture.rest.post('/api/v1/auth/forgot-password', { email }, { tenant });
    const { token } = await fixture.mail(email, /password/);
    const reset = { token, new_password: 'brand new one' };
    const answer = await erasedMeanwhile(bob.userId, 'password_hash', () =>
      fixture.rest.post('/api/v1/auth/reset-password', reset),
    );
    expect(answer).toMatchObject({ status: 401, code: 'invalid_reset_token' });
  });

  it('has no profile any more, for itself and for an administrator', async () => {
    const [bob, eve] = [
      await fixture.register(admin.tenantId),
      await fixture.register(admin.tenantId),
    ];
    const rename = { display_name: 'Somebody else' };
    const own = await erasedMeanwhile(bob.userId, 'display_name', () =>
      fixture.as(bob).patch('/api/v1/user/profile', rename),
    );
    expect(own).toMatchObject({ status: 404, code: 'not_found' });
    const path = `/api/v1/admin/users/${eve.userId}`;
    const byAdmin = await erasedMeanwhile(eve.userId, 'display_name', () =>
      fixture.as(admin).patch(path, rename),
    );
    expect(byAdmin).toMatchObject({ status: 404, code: 'not_found' });
  });

  it('does not refresh a session', async () => {
    const bob = await fixture.register(admin.tenantId);
    const answer = await erasedMeanwhile(bob.userId, 'refreshed_by', () =>
      fixture.refresh(bob.refresh),
    );
    expect(answer).toMatchObject({ status: 401, code: 'invalid_refresh_token' });
  });

  it('registers as an address that is taken, when it was deleted before its first session', async () => {
    const body = { email: 'short.lived@example.com', password: PASSWORD };
    const { tenantId: tenant } = admin;
    const answer = await erasedMeanwhile(undefined, 'user', () =>
      fixture.rest.post('/api/v1/auth/register', body, { tenant }),
    );
    expect(answer).toMatchObject({ status: 201, body: { user_id: '' } });
    expect(answer.body.access_token).toBeUndefined();
  });
});
