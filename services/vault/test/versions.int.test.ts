/** Versions of secrets over two replicas with one cache (`docs/design/vault.md`, Versions). */
import { needRedis, startRedis, testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newTenant, type VaultFixture, vaultFixture } from './fixture.ts';

needRedis();
const database = testDatabase();
let redis: Awaited<ReturnType<typeof startRedis>>;
let one: VaultFixture;
let other: VaultFixture;
beforeAll(async () => {
  redis = await startRedis();
  const env = {
    ENCRYPTION_KEY: 'c0ffee00'.repeat(8),
    JWT_SECRET: 'a secret of both replicas, long enough',
    REDIS_URL: redis.url,
    VAULT_REVEAL: 'on',
  };
  one = await vaultFixture(database.url, { env });
  other = await vaultFixture(database.url, { env });
});
afterAll(async () => {
  await Promise.all([one?.stop(), other?.stop()]);
  await redis?.stop();
});

const DB = '/api/v1/vault/services/db';
const USER_VERSIONS = `${DB}/secrets/user/versions`;
const PROMOTIONS = 200;
const promote = (tenantId: string, versions: object, more: object = {}) =>
  one.admin(tenantId).post(`${DB}/promote`, { versions, ...more });
const rollBack = (tenantId: string, fields: readonly string[], more: object = {}) =>
  one.admin(tenantId).post(`${DB}/rollback`, { fields, ...more });
async function tenantWithService(): Promise<string> {
  const tenantId = newTenant();
  await one.keep(tenantId);
  return tenantId;
}
const stagesOf = async (tenantId: string) => {
  const { body } = await other.admin(tenantId).get(USER_VERSIONS);
  return body.versions.map(
    ({ version, stage }: { version: number; stage: string }) => `${version} ${stage}`,
  );
};
/** Versions of the field `user` whose ciphertext exists. */
const blobsOf = async (tenantId: string) => {
  const { rows } = await one.shared.database.system.query<{ version: number }>(
    `SELECT version FROM vault.secret_versions
     WHERE tenant_id = $1 AND name = 'user' AND blob IS NOT NULL ORDER BY 1`,
    [tenantId],
  );
  return rows.map(({ version }) => version);
};
const auditable = async (tenantId: string, type: string) =>
  (await one.eventsOf(tenantId)).filter((event) => event.type === type).map(({ data }) => data);

describe('the versions of a secret', () => {
  it('vault 20 are promoted, rolled back, promoted again and destroyed, and each next vend on the other replica has the value', async () => {
    const tenantId = await tenantWithService();
    const session = other.session({ tenantId });
    const vended = async () => (await session.vend()).body.data.fields.user;
    expect(await vended()).toBe('ann');
    expect((await one.put(tenantId, { user: 'bob' }, { stage: 'pending' })).status).toBe(200);
    expect(await vended()).toBe('ann');
    const promoted = await promote(tenantId, { user: 2 });
    expect(promoted.body).toEqual({
      service_name: 'db',
      fields: [{ name: 'user', version: 2, replaced: 1 }],
    });
    expect(await vended()).toBe('bob');
    expect((await promote(tenantId, { user: 2 })).body.fields).toEqual([
      { name: 'user', version: 2, replaced: null },
    ]);
    await one.put(tenantId, { user: 'eve' });
    expect(await vended()).toBe('eve');
    expect((await rollBack(tenantId, ['user'])).body.fields).toEqual([
      { name: 'user', version: 2, replaced: 3 },
    ]);
    expect(await vended()).toBe('bob');
    expect((await rollBack(tenantId, ['user'])).status).toBe(200);
    expect(await vended()).toBe('ann');
    expect(await stagesOf(tenantId)).toEqual(['3 pending', '2 pending', '1 current']);
    expect((await promote(tenantId, { user: 3 })).status).toBe(200);
    expect(await vended()).toBe('eve');
    const admin = one.admin(tenantId);
    const destroyed = { status: 'destroyed' };
    expect((await admin.delete(`${USER_VERSIONS}/2`)).body).toEqual(destroyed);
    expect((await admin.delete(`${USER_VERSIONS}/2`)).body).toEqual(destroyed);
    expect(await stagesOf(tenantId)).toEqual(['3 current', '1 previous']);
    expect(await blobsOf(tenantId)).toEqual([1, 3]);
    expect(await vended()).toBe('eve');
  });

  it('vault 20 are refused by their codes', async () => {
    const tenantId = await tenantWithService();
    await one.put(tenantId, { user: 'bob' });
    const admin = one.admin(tenantId);
    await admin.delete(`${USER_VERSIONS}/1`);
    const codes = await Promise.all([
      promote(tenantId, { other: 1 }),
      promote(tenantId, { user: 3 }),
      promote(tenantId, { user: 1 }),
      promote(tenantId, { user: 2 }, { expected_current: { user: 1 } }),
      promote(tenantId, {}),
      admin.post(`/api/v1/vault/services/none/promote`, { versions: { user: 1 } }),
      rollBack(tenantId, ['password', 'user']),
      rollBack(tenantId, ['nothing']),
      admin.delete(`${USER_VERSIONS}/2`),
      admin.delete(`${USER_VERSIONS}/3`),
      admin.delete(`${USER_VERSIONS}/two`),
      admin.get(`${DB}/secrets/nothing/versions`),
    ]);
    expect(codes.map(({ status, code }) => [status, code])).toEqual([
      [400, 'unknown_field'],
      [404, 'version_not_found'],
      [409, 'version_destroyed'],
      [409, 'version_conflict'],
      [400, 'invalid_request'],
      [404, 'service_not_found'],
      [409, 'nothing_to_roll_back'],
      [400, 'unknown_field'],
      [409, 'version_in_use'],
      [404, 'version_not_found'],
      [404, 'version_not_found'],
      [404, 'unknown_field'],
    ]);
    expect(codes[6]?.body.error.details).toEqual({ fields: ['password', 'user'] });
  });

  it('vault 20 of user and password that are promoted together are never vended mixed', async () => {
    const tenantId = await tenantWithService();
    const pair = (at: number) => ({ user: `user ${at}`, password: `password ${at}` });
    await one.put(tenantId, pair(1));
    await one.put(tenantId, pair(2), { stage: 'pending' });
    const session = other.session({ tenantId });
    let isOver = false;
    const vends = (async () => {
      const seen: string[] = [];
      while (!isOver) {
        const { user, password } = (await session.vend()).body.data.fields;
        seen.push(`${user.split(' ')[1]} ${password.split(' ')[1]}`);
      }
      return new Set(seen);
    })();
    for (let at = 0; at < PROMOTIONS; at += 1) {
      const version = at % 2 === 0 ? 3 : 2;
      expect((await promote(tenantId, { user: version, password: version })).status).toBe(200);
    }
    isOver = true;
    expect([...(await vends)].sort()).toEqual(['1 1', '2 2']);
  });

  it('vault 21 of fifty parallel changes that expect the same current version one wins', async () => {
    const tenantId = await tenantWithService();
    await one.put(tenantId, { user: 'bob' });
    await one.put(tenantId, { user: 'eve' }, { stage: 'pending' });
    const expected_current = { user: 2 };
    const change = (at: number) => {
      const admin = (at % 2 === 0 ? one : other).admin(tenantId);
      return at % 4 < 2
        ? admin.post(`${DB}/promote`, { versions: { user: 3 }, expected_current })
        : admin.post(`${DB}/rollback`, { fields: ['user'], expected_current });
    };
    const answers = await Promise.all(Array.from({ length: 50 }, (_, at) => change(at)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(new Set(answers.filter(({ status }) => status !== 200).map(({ code }) => code))).toEqual(
      new Set(['version_conflict']),
    );
    const changes = [
      ...(await auditable(tenantId, 'SecretVersionPromoted')),
      ...(await auditable(tenantId, 'SecretRolledBack')),
    ];
    expect(changes).toMatchObject([{ field: 'user', replaced: 2 }]);
  });

  it('vault 20 that were written while a newer one was current are pending to nobody', async () => {
    const tenantId = newTenant();
    await one.admin(tenantId).post('/api/v1/vault/services', {
      ...{ name: 'db', credential_type: 'static' },
      fields: [{ name: 'user' }],
    });
    await one.put(tenantId, { user: 'ann' }, { stage: 'pending' });
    const session = other.session({ tenantId, fields: ['user'] });
    const unset = await session.vend({ fields: ['user'] });
    expect([unset.status, unset.code]).toEqual([409, 'SECRET_NOT_SET']);
    await promote(tenantId, { user: 1 });
    expect((await session.vend({ fields: ['user'] })).body.data.fields).toEqual({ user: 'ann' });
  });
});

describe('revealing a secret', () => {
  const REVEAL = `${DB}/secrets/user/reveal`;
  const reason = 'the vendor asked \u202Efor it';
  const revealable = async () => {
    const tenantId = await tenantWithService();
    expect((await one.admin(tenantId).patch(DB, { reveal: true })).status).toBe(200);
    return tenantId;
  };
  const asAdmin = (tenantId: string, id: string, claims: object = {}) =>
    one.rest.as({
      tenant: tenantId,
      bearer: one.tokens.user({ tenantId, id, roles: ['admin'], claims }),
    });
  const secondsAgo = (seconds: number) => Math.floor(Date.now() / 1000) - seconds;

  it('vault 22 shows the current version or another one, and says so in the log first', async () => {
    const tenantId = await revealable();
    await one.put(tenantId, { user: 'bob' });
    const shown = await one.admin(tenantId).post(REVEAL, { reason });
    expect([shown.status, shown.body]).toEqual([200, { name: 'user', version: 2, value: 'bob' }]);
    expect(shown.headers.get('cache-control')).toBe('no-store');
    const before = await one.admin(tenantId).post(REVEAL, { reason, version: 1 });
    expect(before.body.value).toBe('ann');
    expect(await auditable(tenantId, 'SecretRevealed')).toMatchObject([
      { field: 'user', version: 2, reason: 'the vendor asked for it' },
      { field: 'user', version: 1 },
    ]);
  });

  it('vault 22 is refused to whoever is no administrator in person with a recent sign-in', async () => {
    const tenantId = await revealable();
    const as = (bearer: string) => one.rest.as({ bearer, tenant: tenantId });
    const callers = [
      as(one.tokens.apiKey({ tenantId, scopes: ['vault:write', 'vault:read'] })),
      as(one.tokens.agent({ tenantId, id: 'a', sessionId: 's', userId: 'admin' })),
      as(one.tokens.user({ tenantId, id: 'bob' })),
      asAdmin(tenantId, 'old', { auth_time: secondsAgo(310) }),
      asAdmin(tenantId, 'never', { auth_time: undefined }),
    ];
    const answers = await Promise.all(callers.map((caller) => caller.post(REVEAL, { reason })));
    expect(answers.map(({ status, code }) => [status, code])).toEqual([
      [403, 'forbidden'],
      [403, 'forbidden'],
      [403, 'forbidden'],
      [401, 'step_up_required'],
      [401, 'step_up_required'],
    ]);
    const old = asAdmin(tenantId, 'old', { auth_time: secondsAgo(310) });
    expect((await old.patch(DB, { reveal: true })).code).toBe('step_up_required');
    expect((await old.patch(DB, { reveal: false })).status).toBe(200);
    expect(await auditable(tenantId, 'SecretRevealed')).toEqual([]);
  });

  it('vault 22 is refused by its codes, and shows nothing', async () => {
    const tenantId = await revealable();
    const admin = one.admin(tenantId);
    const codes = [
      await admin.post(`${DB}/secrets/nothing/reveal`, { reason }),
      await admin.post(`${DB}/secrets/extra/reveal`, { reason }),
      await admin.post(REVEAL, { reason, version: 2 }),
      await admin.post(REVEAL, { reason: '\u202E' }),
      await admin.post(REVEAL, {}),
    ].map(({ status, code }) => [status, code]);
    expect(codes).toEqual([
      [404, 'unknown_field'],
      [409, 'secret_not_set'],
      [404, 'version_not_found'],
      [400, 'invalid_request'],
      [400, 'invalid_request'],
    ]);
    await admin.patch(DB, { reveal: false });
    expect((await admin.post(REVEAL, { reason })).code).toBe('reveal_disabled');
  });

  it('vault 22 is limited to ten a minute per person', async () => {
    const tenantId = await revealable();
    const busy = asAdmin(tenantId, 'busy');
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => busy.post(REVEAL, { reason })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
    const limited = answers.filter(({ status }) => status === 429);
    expect(limited.map(({ code }) => code)).toEqual(['reveal_limit', 'reveal_limit']);
    expect(limited[0]?.headers.get('retry-after')).toMatch(/^\d+$/);
    expect((await asAdmin(tenantId, 'calm').post(REVEAL, { reason })).status).toBe(200);
  });
});
