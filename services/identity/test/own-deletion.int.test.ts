/** People delete their own account: after a delay, cancellable, and never the last administrator. */
import type { Sealed } from '@cardea/crypto';
import { armFailPoints, parseFailPoints } from '@cardea/runtime';
import { untilTrue } from '@cardea/testing';
import { afterEach, describe, expect, it } from 'vitest';
import type { Account, IdentityFixture } from './identity-fixture.ts';
import { fromNetwork, identityReplicas } from './replicas-fixture.ts';

const DELETION = '/api/v1/user/deletion';
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 3600_000;

const replicas = identityReplicas();
afterEach(() => armFailPoints([]));

let network = 0;
const from = () => {
  network += 1;
  return { headers: fromNetwork(network) };
};
const told = ({ status, code }: { status: number; code: string | undefined }) =>
  code === undefined ? `${status}` : `${status} ${code}`;
const both = (): readonly IdentityFixture[] => [replicas.first, replicas.second];
const move = (ms: number) => {
  for (const { clock } of both()) clock.move(ms);
};
const signUp = async () => replicas.first.signInAgain(await replicas.first.signUp());
const member = (boss: Account) => replicas.first.registerVerified(boss.tenantId);
const schedule = (of: Account, confirm = of.email) =>
  replicas.first.as(of).post(DELETION, { confirm }, from());
const typesOf = async ({ userId }: Account) =>
  (await replicas.first.host.needsOf('identity').store.readStream(`user-${userId}`)).map(
    ({ type }) => type,
  );
const deleted = (of: Account) =>
  untilTrue(async () => (await typesOf(of)).includes('UserDeleted'), { what: 'the deletion' });

describe('identity 31 a person who has their account deleted', () => {
  it('waits for the days of the tenant, and loses other sessions at once', async () => {
    const { first, second } = replicas;
    const boss = await signUp();
    const bob = await member(boss);
    const other = await first.signInAgain(bob);
    expect(told(await schedule(bob, 'nobody@example.com'))).toBe('400 invalid_request');
    const done = await schedule(bob, ` ${bob.email.toUpperCase()} `);
    expect(done.status).toBe(202);
    const days = (new Date(done.body.delete_at).getTime() - first.clock.now().getTime()) / DAY_MS;
    expect(Math.round(days)).toBe(14);
    expect(told(await second.refresh(other.refresh))).toBe('401 invalid_refresh_token');
    expect((await first.refresh(bob.refresh)).status).toBe(200);
    // A second request changes nothing.
    expect((await schedule(bob)).body).toEqual(done.body);
    expect((await first.as(bob).get(DELETION)).body).toEqual({
      delete_at: done.body.delete_at,
      allowed: true,
      wait_days: 14,
    });
    await first.mail(bob.email, /Security notice: your account will be deleted$/);
    move(11 * DAY_MS + MINUTE_MS);
    await first.mail(bob.email, /Security notice: your account will be deleted soon/);
    expect((await first.logIn(bob)).status).toBe(200);
    move(3 * DAY_MS);
    await deleted(bob);
    await first.mail(bob.email, /Security notice: your account was deleted/);
    expect((await typesOf(bob)).filter((type) => type === 'UserDeleted')).toHaveLength(1);
    expect(told(await first.logIn(bob))).toBe('401 invalid_credentials');
    const again = { email: bob.email, password: 'correct horse battery', display_name: 'Bob' };
    await untilTrue(
      async () => {
        const made = await first.rest.post('/api/v1/auth/register', again, {
          tenant: bob.tenantId,
          ...from(),
        });
        return made.status === 201 && (await first.logIn(bob)).status === 200;
      },
      { what: 'the address to be free' },
    );
    const { sealer, store } = first.host.needsOf('identity');
    const [registered] = await store.readStream(`user-${bob.userId}`);
    if (registered === undefined) throw new Error('nothing was recorded');
    const { email: sealed } = registered.data as { readonly email: Sealed };
    const opened = await sealer.open(sealed, { streamId: `user-${bob.userId}`, field: 'email' });
    expect(opened).toBeNull();
  });

  it('takes it back until the day', async () => {
    const { first } = replicas;
    const boss = await signUp();
    const bob = await member(boss);
    await schedule(bob);
    const back = await first.as(bob).delete(DELETION, from());
    expect([back.status, back.body]).toEqual([200, { status: 'deletion cancelled' }]);
    await first.mail(bob.email, /Security notice: your account will not be deleted/);
    move(15 * DAY_MS);
    const eva = await member(boss);
    await schedule(eva);
    move(15 * DAY_MS);
    await deleted(eva);
    expect(await typesOf(bob)).not.toContain('UserDeleted');
    expect((await first.logIn(bob)).status).toBe(200);
  });

  it('is refused where the tenant does not allow it, and waits as long as it says', async () => {
    const { first } = replicas;
    const boss = await signUp();
    const bob = await member(boss);
    const path = `/api/v1/admin/tenants/${boss.tenantId}`;
    const set = (account_deletion: object) =>
      first.as(boss).patch(path, { settings: { account_deletion } }, from());
    expect((await set({ allowed: false })).status).toBe(200);
    expect(told(await schedule(bob))).toBe('403 deletion_disabled');
    expect((await set({ wait_days: 31 })).status).toBe(400);
    expect((await set({ allowed: true, wait_days: 1 })).status).toBe(200);
    await schedule(bob);
    move(DAY_MS + MINUTE_MS);
    await deleted(bob);
    expect(await typesOf(bob)).not.toContain('DeletionReminded');
  });

  it('stays as the last administrator, when asking and on the day', async () => {
    const { first } = replicas;
    const boss = await signUp();
    expect(told(await schedule(boss))).toBe('409 last_admin');
    const email = `second.${boss.userId}@example.com`;
    const made = await first
      .as(boss)
      .post(
        '/api/v1/admin/users',
        { email, password: 'correct horse battery', roles: ['admin'], email_verified: true },
        from(),
      );
    const second = { ...boss, userId: String(made.body.id), email };
    expect((await schedule(boss)).status).toBe(202);
    const by = await first.signInAgain(second);
    const demoted = await first
      .as(by)
      .patch(`/api/v1/admin/users/${second.userId}`, { roles: ['member'] }, from());
    expect(demoted.status).toBe(200);
    move(14 * DAY_MS + MINUTE_MS);
    await untilTrue(async () => (await typesOf(boss)).includes('DeletionCancelled'), {
      what: 'the refusal',
    });
    expect(await typesOf(boss)).not.toContain('UserDeleted');
    const { text } = await first.mail(
      boss.email,
      /Security notice: your account could not be deleted/,
    );
    expect(text).toContain('Make somebody else an administrator');
  });

  it('is deleted although the process dies before it decides', async () => {
    const boss = await signUp();
    const bob = await member(boss);
    await schedule(bob);
    armFailPoints(parseFailPoints('deletion.before_decide=throw@1') ?? []);
    move(14 * DAY_MS + MINUTE_MS);
    await deleted(bob);
    expect((await typesOf(bob)).filter((type) => type === 'UserDeleted')).toHaveLength(1);
  });
});
