/** Keys and ciphertexts in their tables: what opens them, and what is swept away. */
import { UnknownWrapKey, wrapKeys } from '@cardea/crypto';
import { secret, systemRandom } from '@cardea/runtime';
import { testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dataKeys } from '../src/adapters/data-keys.ts';
import { sweepOnce } from '../src/services/sweep-secrets.ts';
import { vaultOf } from '../src/vault.ts';
import { newTenant, type VaultRig, vaultRig } from './vault-rig.ts';

const database = testDatabase();
let rig: VaultRig;
beforeAll(async () => {
  rig = await vaultRig(database.url);
});
afterAll(async () => {
  await rig?.stop();
});

const keysUnder = (hex: string, previous?: string) =>
  dataKeys({
    database: rig.shared.database,
    random: systemRandom,
    keys: wrapKeys(
      {
        ...rig.settings,
        ENCRYPTION_KEY: secret(hex),
        ENCRYPTION_KEY_PREVIOUS: previous === undefined ? undefined : secret(previous),
      },
      'dek-wrap/v1',
    ),
  });

describe('the keys of tenants', () => {
  it('are opened by no other ENCRYPTION_KEY, but by the one before it', async () => {
    const own = rig.settings.ENCRYPTION_KEY.reveal();
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
    const hex = rig.settings.ENCRYPTION_KEY.reveal();
    const made = await Promise.all(
      Array.from({ length: 8 }, () => keysUnder(hex).current(tenantId)),
    );
    expect(made.every(({ key }) => made[0]?.key.equals(key) === true)).toBe(true);
  });
});

describe('a value that no event names', () => {
  it('is erased after an hour, and one that stands is kept', async () => {
    const tenantId = newTenant();
    await rig.keep(tenantId);
    const { database: sql } = rig.shared;
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
    const vault = vaultOf(rig.host.needsOf('vault'));
    await sweepOnce(vault);
    expect(await rows()).toEqual(['orphan true', 'password true', 'user true']);
    await sql.system.query(
      `UPDATE vault.secret_versions SET created_at = created_at - interval '2 hours'
       WHERE tenant_id = $1`,
      [tenantId],
    );
    await sweepOnce(vault);
    expect(await rows()).toEqual(['orphan false', 'password true', 'user true']);
    expect((await rig.session({ tenantId }).vend()).status).toBe(200);
  });
});
