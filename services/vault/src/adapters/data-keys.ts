/**
 * One key per tenant encrypts that tenant's secrets. It is stored in the database, wrapped under a key derived from
 * ENCRYPTION_KEY. Without its row none of the tenant's secrets can be decrypted again.
 */
import { createSecretKey, type KeyObject } from 'node:crypto';
import {
  decrypt,
  encrypt,
  foreignKey,
  knownWrapKey,
  Tampered,
  UnknownWrapKey,
  type WrapKeys,
} from '@cardea/crypto';
import {
  type Database,
  orNull,
  type RowOf,
  rowStatements,
  table,
  type WrappedKeyTable,
} from '@cardea/read-models';
import { type Clock, loadingCache, type Random } from '@cardea/runtime';

export type DataKey = { readonly version: number; readonly key: KeyObject };

export interface DataKeys {
  /** The tenant's newest key. Creates one if there is none. Throws {@link TenantShredded}. */
  current(tenantId: string): Promise<DataKey>;
  /** The version of the newest key; undefined if there is none. Creates none. */
  newest(tenantId: string): Promise<number | undefined>;
  /**
   * Creates a new newest key with that creation time. The previous key still decrypts what was written under it.
   * Returns the new version, or undefined if `from` is not the newest version or the tenant has no key.
   */
  rotate(tenantId: string, from: number, now: Date): Promise<number | undefined>;
  /** Throws {@link TenantShredded} if the key was destroyed. */
  ofVersion(tenantId: string, version: number): Promise<KeyObject>;
  /** Permanent. Other processes stop using the key when their cached copy expires. */
  shred(tenantId: string): Promise<void>;
  /** Throws `UnknownWrapKey` if this process has another ENCRYPTION_KEY. It must not start then. */
  checkCanary(): Promise<void>;
}

/** The tenant was deleted, and its stored values can never be decrypted again. */
export class TenantShredded extends Error {
  override readonly name = 'TenantShredded';
}
type Dependencies = {
  readonly database: Database;
  readonly keys: WrapKeys;
  readonly random: Random;
  readonly clock: Clock;
};
const tenantKeyRows = table('tenant_keys', {
  key: ['tenant_id', 'dek_version'],
  columns: {
    tenant_id: 'text',
    dek_version: 'integer',
    kek_id: 'text',
    /** Null after the key was destroyed. */
    wrapped: orNull('bytea'),
    state: 'text',
  },
});
const WRAPPED = tenantKeyRows.select('dek_version', 'kek_id', 'wrapped');
type StoredKey = RowOf<typeof WRAPPED>;

const KEY_BYTES = 32;
const TENANTS_MAX = 1_000;
const HELD_MS = 5 * 60_000;
const CANARY_TENANT = '*';
const CANARY_VERSION = 0;

export function dataKeys(needs: Dependencies): DataKeys {
  const { database, keys } = needs;
  const held = loadingCache<string, readonly DataKey[]>(needs.clock, {
    entriesMax: TENANTS_MAX,
    ttlMs: HELD_MS,
  });
  const load = async (tenantId: string): Promise<readonly DataKey[]> => {
    const rows = await readOrMake(database, tenantId, () => wrappedNew(needs, tenantId, 1));
    return rows.map((row) => unwrapped(keys, tenantId, row));
  };
  const all = (tenantId: string): Promise<readonly DataKey[]> =>
    held.get(tenantId, () => load(tenantId));
  const heldVersion = async (tenantId: string, version: number) =>
    (await all(tenantId)).find((each) => each.version === version);
  return {
    current: async (tenantId) => {
      const newest = (await all(tenantId)).at(-1);
      if (newest === undefined) throw new Error('a tenant without a key');
      return newest;
    },
    ofVersion: async (tenantId, version) => {
      const known = await heldVersion(tenantId, version);
      if (known !== undefined) return known.key;
      // Another process rotated the key after this one read it.
      held.delete(tenantId);
      const found = await heldVersion(tenantId, version);
      if (found === undefined) throw new TenantShredded('the key of a secret is gone');
      return found.key;
    },
    newest: (tenantId) => newestVersion(database, tenantId),
    rotate: async (tenantId, from, now) => {
      const next = { version: from + 1, now, ...wrappedNew(needs, tenantId, from + 1) };
      const isOurs = await insertNext(database, tenantId, next);
      held.delete(tenantId);
      return isOurs ? next.version : undefined;
    },
    shred: async (tenantId) => {
      await database.system.query(
        `UPDATE vault.tenant_keys SET wrapped = NULL, state = 'shredded' WHERE tenant_id = $1`,
        [tenantId],
      );
      held.delete(tenantId);
    },
    checkCanary: () => checkCanary(needs),
  };
}

function wrappedNew({ keys, random }: Dependencies, tenantId: string, version: number): Wrapped {
  const plain = random.bytes(KEY_BYTES);
  const { id, key } = keys.current;
  const wrapped = encrypt(key, plain, wrapPlace(tenantId, version, id), { random });
  plain.fill(0);
  return { kekId: id, wrapped };
}

function unwrapped(keys: WrapKeys, tenantId: string, row: StoredKey): DataKey {
  if (row.wrapped === null) throw new TenantShredded('the tenant has no key any more');
  const wrapKey = knownWrapKey(keys, row.kek_id);
  const place = wrapPlace(tenantId, row.dek_version, row.kek_id);
  const plain = decrypt(wrapKey.key, row.wrapped, place);
  const key = createSecretKey(plain);
  plain.fill(0);
  return { version: row.dek_version, key };
}

async function checkCanary(needs: Dependencies): Promise<void> {
  const { database, keys } = needs;
  const { rows } = await database.system.query<StoredKey>(
    `SELECT ${WRAPPED.columns} FROM vault.tenant_keys WHERE tenant_id = $1 AND dek_version = $2`,
    [CANARY_TENANT, CANARY_VERSION],
  );
  const [canary] = rows;
  if (canary === undefined) {
    const made = wrappedNew(needs, CANARY_TENANT, CANARY_VERSION);
    await insert(database, CANARY_TENANT, CANARY_VERSION, made);
    return;
  }
  try {
    unwrapped(keys, CANARY_TENANT, canary);
  } catch (error) {
    throw error instanceof Tampered ? new UnknownWrapKey(foreignKey([canary.kek_id], keys)) : error;
  }
}

/** These keys are re-encrypted when ENCRYPTION_KEY changes, including the canary. */
export const tenantKeyTable: WrappedKeyTable = {
  name: 'vault.tenant_keys',
  info: 'dek-wrap/v1',
  key: { tenant_id: 'text', dek_version: 'integer' },
  placeOf: (row, kekId) => wrapPlace(String(row['tenant_id']), Number(row['dek_version']), kekId),
};

type Wrapped = { readonly kekId: string; readonly wrapped: Buffer };

const wrapPlace = (tenantId: string, version: number, kekId: string) => [
  'dek.v1',
  tenantId,
  String(version),
  kekId,
];

/** If another process inserts the key first, its key is read and used. */
async function readOrMake(
  database: Database,
  tenantId: string,
  make: () => Wrapped,
): Promise<readonly StoredKey[]> {
  const rows = await read(database, tenantId);
  if (rows.length > 0) return rows;
  await insert(database, tenantId, 1, make());
  return read(database, tenantId);
}

async function read(database: Database, tenantId: string): Promise<readonly StoredKey[]> {
  const { rows } = await database.system.query<StoredKey>(
    `SELECT ${WRAPPED.columns} FROM vault.tenant_keys
     WHERE tenant_id = $1 ORDER BY dek_version`,
    [tenantId],
  );
  return rows;
}

/** Inserts the key, unless one exists already. */
async function insert(
  database: Database,
  tenantId: string,
  version: number,
  { kekId, wrapped }: Wrapped,
): Promise<void> {
  const row = tenantKeyRows.insert({
    tenant_id: tenantId,
    dek_version: version,
    kek_id: kekId,
    wrapped: `\\x${wrapped.toString('hex')}`,
    state: 'active',
  });
  await database.asSystemAtOnce(rowStatements({ schema: 'vault', tables: [tenantKeyRows] }, [row]));
}

async function newestVersion(database: Database, tenantId: string): Promise<number | undefined> {
  const { rows } = await database.system.query<Pick<StoredKey, 'dek_version'>>(
    `SELECT dek_version FROM vault.tenant_keys
     WHERE tenant_id = $1 AND dek_version > ${CANARY_VERSION} AND state = 'active'`,
    [tenantId],
  );
  return rows[0]?.dek_version;
}

/** Returns false if another rotation came first, or the tenant was shredded. */
async function insertNext(
  database: Database,
  tenantId: string,
  next: Wrapped & { readonly version: number; readonly now: Date },
): Promise<boolean> {
  const { rowCount } = await database.system.query(
    `WITH before AS (
       UPDATE vault.tenant_keys SET state = 'decrypt_only'
       WHERE tenant_id = $1 AND dek_version = $2 - 1 AND state = 'active' RETURNING tenant_id
     )
     INSERT INTO vault.tenant_keys (tenant_id, dek_version, kek_id, wrapped, state, created_at)
     SELECT tenant_id, $2, $3, $4, 'active', $5 FROM before`,
    [tenantId, next.version, next.kekId, next.wrapped, next.now],
  );
  return rowCount === 1;
}
