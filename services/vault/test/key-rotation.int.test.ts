/** The keys of tenants' secrets are replaced on command, by age and by use, while secrets are vended. */
import { type Clock, systemClock } from '@cardea/runtime';
import { testDatabase } from '@cardea/testing';
import { vaultOperations } from '@cardea/vault';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rotateOnce } from '../src/services/rotate-keys.ts';
import { serviceParts } from '../src/services/services.module.ts';
import { newTenant, type VaultFixture, vaultFixture } from './fixture.ts';

const YEAR_MS = 366 * 24 * 3600_000;
const SECRETS = {
  ENCRYPTION_KEY: 'c0ffee00'.repeat(8),
  JWT_SECRET: 'a secret of both replicas, long enough',
};

let shiftMs = 0;
const clock: Clock = { ...systemClock, now: () => new Date(Date.now() + shiftMs) };
const database = testDatabase();
let one: VaultFixture;
let other: VaultFixture;
beforeAll(async () => {
  one = await vaultFixture(database.url, { env: SECRETS, clock });
  other = await vaultFixture(database.url, { env: SECRETS, clock });
});
afterAll(async () => {
  await one?.stop();
  await other?.stop();
});

const query = async <Row extends object>(sql: string, tenantId: string) =>
  (await one.shared.database.system.query<Row & { [column: string]: unknown }>(sql, [tenantId]))
    .rows;
const versionsOf = async (tenantId: string) =>
  (
    await query<{ dek_version: number }>(
      `SELECT DISTINCT dek_version FROM vault.secret_versions
       WHERE tenant_id = $1 AND blob IS NOT NULL ORDER BY 1`,
      tenantId,
    )
  ).map(({ dek_version }) => dek_version);
const keysOf = (tenantId: string) =>
  query(
    'SELECT dek_version, state FROM vault.tenant_keys WHERE tenant_id = $1 ORDER BY 1',
    tenantId,
  );
/** Runs ANALYZE, as autovacuum does from time to time. */
async function analyzed(): Promise<void> {
  const owner = new Client({ connectionString: database.url });
  await owner.connect();
  await owner.query('ANALYZE vault.secret_versions');
  await owner.end();
}
const operations = () => vaultOperations(one.host.needsOf('vault'));
const vault = () => {
  const needs = one.host.needsOf('vault');
  return { ...needs, ...serviceParts(needs) };
};

describe("the key of a tenant's secrets", () => {
  it('is replaced while another replica vends and writes under what it has read before', async () => {
    const tenantId = newTenant();
    await one.keep(tenantId, 'db');
    await one.keep(tenantId, 'mail');
    const seen = other.session({ tenantId, services: ['db', 'mail'] });
    expect((await seen.vend()).status).toBe(200);
    expect(await operations().rotateKey(tenantId)).toEqual({
      version: 2,
      values: 4,
      unreadable: 0,
    });
    expect(await versionsOf(tenantId)).toEqual([2]);
    for (const service_name of ['db', 'mail']) {
      const vended = await seen.vend({ service_name, force_refresh: true });
      expect([vended.status, vended.body.data?.fields.password]).toEqual([
        200,
        `secret of ${tenantId}`,
      ]);
    }
    expect(await keysOf(tenantId)).toEqual([
      { dek_version: 1, state: 'decrypt_only' },
      { dek_version: 2, state: 'active' },
    ]);
  });

  it('has its stragglers encrypted anew by the next turn', async () => {
    const tenantId = newTenant();
    await other.keep(tenantId);
    await operations().rotateKey(tenantId);
    // This replica still uses its cached key.
    expect((await other.put(tenantId, { extra: 'late' })).status).toBe(200);
    expect(await versionsOf(tenantId)).toEqual([1, 2]);
    await rotateOnce(vault());
    expect(await versionsOf(tenantId)).toEqual([2]);
    const session = one.session({ tenantId, fields: ['extra'] });
    expect((await session.vend({ fields: ['extra'] })).body.data.fields).toEqual({ extra: 'late' });
  });

  it('is replaced after a year, once', async () => {
    const tenantId = newTenant();
    await one.keep(tenantId);
    await rotateOnce(vault());
    expect(await versionsOf(tenantId)).toEqual([1]);
    shiftMs += YEAR_MS;
    try {
      await rotateOnce(vault());
      await rotateOnce(vault());
    } finally {
      shiftMs = 0;
    }
    expect(await versionsOf(tenantId)).toEqual([2]);
  });

  it('is replaced once it has encrypted as many values as it may', async () => {
    const [busy, quiet] = [newTenant(), newTenant()];
    await one.keep(busy);
    await one.put(busy, { user: 'eve', password: 'new', extra: 'more' });
    await one.keep(quiet);
    await analyzed();
    await rotateOnce(vault(), {}, 5);
    expect([await versionsOf(busy), await versionsOf(quiet)]).toEqual([[2], [1]]);
  });

  it('leaves what was destroyed destroyed, and what does not open as it is', async () => {
    const tenantId = newTenant();
    await one.keep(tenantId);
    await query(
      `UPDATE vault.secret_versions SET blob = NULL, destroyed_at = now()
       WHERE tenant_id = $1 AND name = 'user'`,
      tenantId,
    );
    await query(
      `UPDATE vault.secret_versions SET blob = set_byte(blob, 20, get_byte(blob, 20) # 1)
       WHERE tenant_id = $1 AND name = 'password'`,
      tenantId,
    );
    expect(await operations().rotateKey(tenantId)).toEqual({
      version: 2,
      values: 0,
      unreadable: 1,
    });
    expect(
      await query(
        `SELECT name, dek_version, blob IS NULL AS gone FROM vault.secret_versions
         WHERE tenant_id = $1 ORDER BY name`,
        tenantId,
      ),
    ).toEqual([
      { name: 'password', dek_version: 1, gone: false },
      { name: 'user', dek_version: 1, gone: true },
    ]);
  });

  it('is made by no rotation where there is none, or none any more', async () => {
    const tenantId = newTenant();
    expect(await operations().rotateKey(tenantId)).toBeUndefined();
    await one.keep(tenantId);
    await vault().keys.shred(tenantId);
    expect(await operations().rotateKey(tenantId)).toBeUndefined();
    expect(await keysOf(tenantId)).toEqual([{ dek_version: 1, state: 'shredded' }]);
  });

  it('is replaced once where two replicas do it at the same time', async () => {
    const tenantId = newTenant();
    await one.keep(tenantId);
    const { keys } = vault();
    const both = await Promise.all([1, 1].map((from) => keys.rotate(tenantId, from, clock.now())));
    expect(both.toSorted()).toEqual([2, undefined]);
  });
});
