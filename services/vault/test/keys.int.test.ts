/** Keys and ciphertexts in their tables: what decrypts them, and what the sweeper erases. */
import { Tampered, UnknownWrapKey, wrapKeys } from '@cardea/crypto';
import { fakeClock, metrics, secret, systemClock, systemRandom } from '@cardea/runtime';
import { testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dataKeys } from '../src/adapters/data-keys.ts';
import { secretStore } from '../src/adapters/secret-store.ts';
import { serviceParts } from '../src/services/services.module.ts';
import { sweepOnce } from '../src/services/sweep-secrets.ts';
import { newTenant, type VaultFixture, vaultFixture } from './fixture.ts';

const database = testDatabase();
let fixture: VaultFixture;
beforeAll(async () => {
  fixture = await vaultFixture(database.url);
});
afterAll(async () => {
  await fixture?.stop();
});

const keysUnder = (hex: string, previous?: string) =>
  dataKeys({
    database: fixture.shared.database,
    random: systemRandom,
    clock: systemClock,
    keys: wrapKeys(
      {
        ...fixture.settings,
        ENCRYPTION_KEY: secret(hex),
        ENCRYPTION_KEY_PREVIOUS: previous === undefined ? undefined : secret(previous),
      },
      'dek-wrap/v1',
    ),
  });

describe('the keys of tenants', () => {
  it('are opened by no other ENCRYPTION_KEY, but by the one before it', async () => {
    const own = fixture.settings.ENCRYPTION_KEY.reveal();
    const other = 'ab'.repeat(32);
    await expect(keysUnder(other).checkCanary()).rejects.toThrow(UnknownWrapKey);
    await expect(keysUnder(other, own).checkCanary()).resolves.toBeUndefined();
    const tenantId = newTenant();
    const made = await keysUnder(own).current(tenantId);
    await expect(keysUnder(other).current(tenantId)).rejects.toThrow(UnknownWrapKey);
    const read = await keysUnder(other, own).current(tenantId);
    expect(read.key.equals(made.key)).toBe(true);
  });

  it('are one per tenant, whoever makes them first', async () => {
    const tenantId = newTenant();
    const hex = fixture.settings.ENCRYPTION_KEY.reveal();
    const made = await Promise.all(
      Array.from({ length: 8 }, () => keysUnder(hex).current(tenantId)),
    );
    expect(made.every(({ key }) => made[0]?.key.equals(key) === true)).toBe(true);
  });
});

describe('a value that does not open', () => {
  const failures = async () => (await metrics.decryptionFailures.get()).values[0]?.value ?? 0;
  const flipLastBit = (tenantId: string) =>
    fixture.shared.database.system.query(
      `UPDATE vault.secret_versions SET blob = set_byte(blob, length(blob) - 1, get_byte(blob, length(blob) - 1) # 1)
       WHERE tenant_id = $1 AND blob IS NOT NULL`,
      [tenantId],
    );

  it('is counted and not cached: put right in the database, it is handed out by the next vend', async () => {
    const tenantId = newTenant();
    await fixture.keep(tenantId);
    const session = fixture.session({ tenantId });
    await flipLastBit(tenantId);
    const before = await failures();
    for (const count of [1, 2]) {
      const broken = await session.vend();
      expect([broken.status, broken.code]).toEqual([500, 'INTERNAL']);
      expect(await failures()).toBe(before + count);
    }
    await flipLastBit(tenantId);
    const granted = await session.vend();
    expect(granted.body.data?.fields).toMatchObject({ password: `secret of ${tenantId}` });
    expect(await failures()).toBe(before + 2);
  });

  it('is found out five minutes after it was read last, at the latest', async () => {
    const tenantId = newTenant();
    const owner = { tenantId, ownerId: 'service' };
    const secret_id = '0b8f4f0e-6a1c-4b8e-9a52-6f2f5a0c7d11';
    const one = { name: 'password', version: 1, secret_id };
    const keys = keysUnder(fixture.settings.ENCRYPTION_KEY.reveal());
    const clock = fakeClock('2026-01-01T00:00:00Z');
    const store = secretStore({
      database: fixture.shared.database,
      keys,
      random: systemRandom,
      clock,
    });
    await store.write(owner, [{ ...one, value: 'a value' }]);
    expect(String((await store.open(owner, [one]))[0])).toBe('a value');
    await flipLastBit(tenantId);
    await clock.advance(3 * 60_000);
    expect(String((await store.open(owner, [one]))[0])).toBe('a value');
    await clock.advance(2 * 60_000 + 1);
    await expect(store.open(owner, [one])).rejects.toThrow(Tampered);
  });
});

describe('a value that no event names', () => {
  it('is erased after an hour, and one that stands is kept', async () => {
    const tenantId = newTenant();
    await fixture.keep(tenantId);
    const { database: sql } = fixture.shared;
    const rows = async () =>
      (
        await sql.system.query<{ n: string; named: boolean }>(
          `SELECT name AS n, blob IS NOT NULL AS named FROM vault.secret_versions
           WHERE tenant_id = $1 ORDER BY name`,
          [tenantId],
        )
      ).rows.map(({ n, named }) => `${n} ${named}`);
    await sql.system.query(
      `INSERT INTO vault.secret_versions
         (tenant_id, secret_id, owner_kind, owner_id, name, version, dek_version, blob)
       SELECT tenant_id, gen_random_uuid(), 'field', owner_id, 'orphan', 1, 1, blob
       FROM vault.secret_versions WHERE tenant_id = $1 AND name = 'user'`,
      [tenantId],
    );
    const needs = fixture.host.needsOf('vault');
    const vault = { ...needs, ...serviceParts(needs) };
    await sweepOnce(vault);
    expect(await rows()).toEqual(['orphan true', 'password true', 'user true']);
    await sql.system.query(
      `UPDATE vault.secret_versions SET created_at = created_at - interval '2 hours'
       WHERE tenant_id = $1`,
      [tenantId],
    );
    await sweepOnce(vault);
    expect(await rows()).toEqual(['orphan false', 'password true', 'user true']);
    expect((await fixture.session({ tenantId }).vend()).status).toBe(200);
  });
});
