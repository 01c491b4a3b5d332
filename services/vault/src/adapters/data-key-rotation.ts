/**
 * A tenant's key is replaced after a year, or after as many values as one key may encrypt with random nonces. Values
 * under older keys are then re-encrypted one by one, and stay readable and writable in the meantime.
 */
import { Tampered } from '@cardea/crypto';
import type { Database } from '@cardea/read-models';
import type { Random } from '@cardea/runtime';
import { type DataKeys, TenantShredded } from './data-keys.ts';
import { openSecret, sealSecret } from './secret-store.ts';

const KEY_AGE_MS_MAX = 365 * 24 * 3600_000;
/** A quarter of the limit of NIST SP 800-38D for random nonces of 96 bits. */
export const KEY_VALUES_MAX = 2 ** 30;
const TENANTS_PER_TURN = 100;
const BATCH_VALUES = 100;

type Dependencies = {
  readonly database: Pick<Database, 'system'>;
  readonly keys: DataKeys;
  readonly random: Random;
};

/** Replaces the keys that are due. Returns their number. */
export async function rotateDueKeys(
  needs: Dependencies,
  now: Date,
  valuesMax = KEY_VALUES_MAX,
): Promise<number> {
  const before = new Date(now.getTime() - KEY_AGE_MS_MAX);
  const due = [...(await keysOlderThan(needs, before)), ...(await keysWornOut(needs, valuesMax))];
  for (const { tenant_id, dek_version } of due) {
    await needs.keys.rotate(tenant_id, dek_version, now);
  }
  return due.length;
}

type ActiveKey = { readonly tenant_id: string; readonly dek_version: number };
/** The canary has version 0 and encrypts nothing. */
const ACTIVE = "state = 'active' AND dek_version > 0";

async function keysOlderThan(
  { database }: Dependencies,
  before: Date,
): Promise<readonly ActiveKey[]> {
  const { rows } = await database.system.query<ActiveKey>(
    `SELECT tenant_id, dek_version FROM vault.tenant_keys
     WHERE ${ACTIVE} AND created_at < $1 LIMIT ${TENANTS_PER_TURN}`,
    [before],
  );
  return rows;
}

/** Counts values per key only if all tenants together may have written enough of them. */
async function keysWornOut({ database }: Dependencies, max: number): Promise<readonly ActiveKey[]> {
  const { rows: estimated } = await database.system.query<{ rows: number }>(
    `SELECT reltuples::float8 AS rows FROM pg_class WHERE oid = 'vault.secret_versions'::regclass`,
  );
  if ((estimated[0]?.rows ?? 0) < max) return [];
  const { rows } = await database.system.query<ActiveKey>(
    `SELECT tenant_id, dek_version FROM vault.tenant_keys JOIN (
       SELECT tenant_id, dek_version FROM vault.secret_versions
       GROUP BY tenant_id, dek_version HAVING count(*) >= $1
     ) AS worn USING (tenant_id, dek_version)
     WHERE ${ACTIVE} LIMIT ${TENANTS_PER_TURN}`,
    [max],
  );
  return rows;
}

export type Progress = {
  /** Limits the work to this tenant. */
  readonly tenantId?: string;
  readonly signal?: AbortSignal;
  readonly tick?: () => void;
};
export type Reencrypted = { readonly values: number; readonly unreadable: number };

/**
 * Re-encrypts every value that is not under its tenant's newest key. It may be stopped at any point and called again,
 * also by several processes at once. A value that cannot be decrypted is left unchanged and counted.
 */
export async function reencryptOldValues(
  needs: Dependencies,
  { tenantId, signal, tick }: Progress = {},
): Promise<Reencrypted> {
  const count = { values: 0, unreadable: 0 };
  let after: Pick<OldValue, 'tenant_id' | 'secret_id'> | undefined;
  do {
    tick?.();
    const values = await oldValues(needs, tenantId, after);
    for (const value of values) {
      const outcome = await reencrypted(needs, value);
      if (outcome !== 'left') count[outcome] += 1;
    }
    after = values.length === BATCH_VALUES ? values.at(-1) : undefined;
  } while (after !== undefined && signal?.aborted !== true);
  return count;
}

type OldValue = {
  readonly tenant_id: string;
  readonly secret_id: string;
  readonly owner_id: string;
  readonly name: string;
  readonly version: number;
  readonly dek_version: number;
  readonly blob: Buffer;
  readonly newest: number;
};
const LOWEST_ID = '00000000-0000-0000-0000-000000000000';

async function oldValues(
  { database }: Dependencies,
  tenantId: string | undefined,
  after: Pick<OldValue, 'tenant_id' | 'secret_id'> | undefined,
): Promise<readonly OldValue[]> {
  const { rows } = await database.system.query<OldValue>(
    `SELECT v.tenant_id, v.secret_id, v.owner_id, v.name, v.version, v.dek_version, v.blob,
            k.dek_version AS newest
     FROM vault.tenant_keys k JOIN vault.secret_versions v
       ON v.tenant_id = k.tenant_id AND v.dek_version < k.dek_version
     WHERE k.state = 'active' AND k.dek_version > 1 AND v.owner_kind = 'field'
       AND v.blob IS NOT NULL AND ($1::text IS NULL OR k.tenant_id = $1)
       AND (v.tenant_id, v.secret_id) > ($2, $3::uuid)
     ORDER BY v.tenant_id, v.secret_id LIMIT ${BATCH_VALUES}`,
    [tenantId ?? null, after?.tenant_id ?? '', after?.secret_id ?? LOWEST_ID],
  );
  return rows;
}

/** `left`: the value was destroyed, or another process has re-encrypted it. */
async function reencrypted(
  { database, keys, random }: Dependencies,
  value: OldValue,
): Promise<'values' | 'unreadable' | 'left'> {
  const { tenant_id: tenantId, owner_id: ownerId, secret_id, name, version, newest } = value;
  const place = { tenantId, ownerId, secret_id, name, version };
  try {
    const plain = openSecret(await keys.ofVersion(tenantId, value.dek_version), place, value.blob);
    const key = await keys.ofVersion(tenantId, newest);
    const blob = sealSecret({ version: newest, key }, place, plain, random);
    plain.fill(0);
    const { rowCount } = await database.system.query(
      `UPDATE vault.secret_versions SET blob = $1, dek_version = $2
       WHERE tenant_id = $3 AND secret_id = $4 AND dek_version = $5 AND blob IS NOT NULL`,
      [blob, newest, tenantId, secret_id, value.dek_version],
    );
    return rowCount === 1 ? 'values' : 'left';
  } catch (error) {
    if (error instanceof TenantShredded) return 'left';
    if (error instanceof Tampered) return 'unreadable';
    throw error;
  }
}
