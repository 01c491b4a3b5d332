/**
 * Ciphertexts of secrets, which are stored in a table and not in the event log. Each is bound to its tenant, owner,
 * name, version, id and key version. After a copy to another row, or a change of one bit, it cannot be decrypted.
 */
import type { KeyObject } from 'node:crypto';
import {
  decrypt,
  encrypt,
  type FieldBinding,
  headerOf,
  Tampered,
  UnknownWrapKey,
} from '@cardea/crypto';
import type { Database } from '@cardea/read-models';
import { type Clock, expiringCache, metrics, type Random } from '@cardea/runtime';
import type { DataKey, DataKeys } from './data-keys.ts';

export type SecretName = {
  readonly name: string;
  readonly version: number;
  readonly secret_id: string;
};
export type SecretLocation = SecretName & { readonly tenantId: string; readonly ownerId: string };
export type Owner = { readonly tenantId: string; readonly ownerId: string };

export interface SecretStore {
  /** Writes are durable when it resolves. No event refers to the rows yet. */
  write(of: Owner, secrets: readonly (SecretName & { readonly value: string })[]): Promise<void>;
  /**
   * Returns values in the requested order. Throws if one is missing, destroyed or cannot be decrypted. The caller wipes
   * the buffers.
   */
  open(of: Owner, secrets: readonly SecretName[]): Promise<readonly Buffer[]>;
  erase(tenantId: string, secretIds: readonly string[]): Promise<void>;
  eraseOwner(of: Owner): Promise<void>;
  eraseTenant(tenantId: string): Promise<void>;
}

/** An event names a secret that has no row, or whose row has no value any more. */
export class SecretMissing extends Error {
  override readonly name = 'SecretMissing';
}

const PURPOSE = 'vault.field.v1';
const HEADER_BYTES = 4;
/**
 * Ciphertexts that are cached after a successful decryption. The library keeps up to twice as many: 1,024 of 64 KiB are
 * 64 MiB.
 */
const BLOBS_MAX = 512;
/** After this time the row is read again, so that its destruction is noticed. */
const BLOB_MS = 5 * 60_000;

type Dependencies = {
  readonly database: Database;
  readonly keys: DataKeys;
  readonly random: Random;
  readonly clock: Clock;
};
type Blob = { readonly dekVersion: number; readonly blob: Buffer };

export function secretStore({ database, keys, random, clock }: Dependencies): SecretStore {
  const opening = expiringCache<string, Blob>(clock, { entriesMax: BLOBS_MAX, ttlMs: BLOB_MS });
  const blobKey = (tenantId: string, secretId: string) => `${tenantId} ${secretId}`;

  const fetchBlobs = async (
    tenantId: string,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, Blob>> => {
    if (ids.length === 0) return new Map();
    const { rows } = await database
      .tenant(tenantId)
      .query<{ secret_id: string; dek_version: number; blob: Buffer }>(
        {
          name: 'vault_secret_blobs',
          text: `SELECT secret_id, dek_version, blob FROM vault.secret_versions
         WHERE tenant_id = $1 AND secret_id = ANY($2::uuid[]) AND blob IS NOT NULL`,
        },
        [tenantId, ids],
      );
    return new Map(
      rows.map(({ secret_id, dek_version, blob }) => [
        secret_id,
        { dekVersion: dek_version, blob },
      ]),
    );
  };
  const drop = (tenantId: string, ids: readonly string[]): void => {
    for (const id of ids) opening.delete(blobKey(tenantId, id));
  };

  return {
    write: async (of, secrets) => {
      const key = await keys.current(of.tenantId);
      const blobs = secrets.map((each) => sealSecret(key, { ...of, ...each }, each.value, random));
      await insert(database, of, { secrets, blobs, dekVersion: key.version });
    },
    open: async ({ tenantId, ownerId }, secrets) => {
      const keyOf = ({ secret_id }: SecretName) => blobKey(tenantId, secret_id);
      const unknown = secrets.filter((secret) => opening.get(keyOf(secret)) === undefined);
      const ids = unknown.map(({ secret_id }) => secret_id);
      const fetched = await fetchBlobs(tenantId, ids);
      const opened: Buffer[] = [];
      try {
        for (const secret of secrets) {
          const read = fetched.get(secret.secret_id);
          const found = read ?? opening.get(keyOf(secret));
          if (found === undefined) throw new SecretMissing('a secret that stands has no value');
          const key = await keys.ofVersion(tenantId, found.dekVersion);
          opened.push(openSecret(key, { tenantId, ownerId, ...secret }, found.blob));
          // Cached only after a successful decryption. A row that could not be decrypted is read again at the next
          // vend, when it may be repaired.
          if (read !== undefined) opening.set(keyOf(secret), read);
        }
      } catch (error) {
        if (error instanceof Tampered || error instanceof UnknownWrapKey) {
          metrics.decryptionFailures.inc();
        }
        for (const buffer of opened) buffer.fill(0);
        drop(
          tenantId,
          secrets.map(({ secret_id }) => secret_id),
        );
        throw error;
      }
      return opened;
    },
    erase: async (tenantId, secretIds) => {
      drop(tenantId, secretIds);
      if (secretIds.length === 0) return;
      await eraseWhere(database, tenantId, 'secret_id = ANY($2::uuid[])', secretIds);
    },
    eraseOwner: ({ tenantId, ownerId }) => eraseWhere(database, tenantId, 'owner_id = $2', ownerId),
    eraseTenant: async (tenantId) => {
      opening.clear();
      await database
        .tenant(tenantId)
        .query('DELETE FROM vault.secret_versions WHERE tenant_id = $1', [tenantId]);
    },
  };
}

/** The AAD to which a secret's ciphertext is bound. */
const placeOf = (of: SecretLocation, dekVersion: number): FieldBinding => [
  PURPOSE,
  of.tenantId,
  of.ownerId,
  of.name,
  String(of.version),
  of.secret_id,
  String(dekVersion),
];

export function sealSecret(
  { key, version }: DataKey,
  place: SecretLocation,
  value: string | Buffer,
  random: Random,
): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32BE(version);
  return encrypt(key, value, placeOf(place, version), { header, random });
}

export function openSecret(key: KeyObject, place: SecretLocation, blob: Buffer): Buffer {
  const dekVersion = headerOf(blob, HEADER_BYTES).readUInt32BE();
  return decrypt(key, blob, placeOf(place, dekVersion), HEADER_BYTES);
}

async function insert(
  database: Database,
  { tenantId, ownerId }: Owner,
  of: {
    readonly secrets: readonly SecretName[];
    readonly blobs: readonly Buffer[];
    readonly dekVersion: number;
  },
): Promise<void> {
  await database.tenant(tenantId).query(
    `INSERT INTO vault.secret_versions
         (tenant_id, secret_id, owner_kind, owner_id, name, version, dek_version, blob)
       SELECT $1, u.secret_id, 'field', $2, u.name, u.version, $3, u.blob
       FROM unnest($4::uuid[], $5::text[], $6::integer[], $7::bytea[])
         AS u (secret_id, name, version, blob)`,
    [
      tenantId,
      ownerId,
      of.dekVersion,
      of.secrets.map(({ secret_id }) => secret_id),
      of.secrets.map(({ name }) => name),
      of.secrets.map(({ version }) => version),
      of.blobs,
    ],
  );
}

async function eraseWhere(
  database: Database,
  tenantId: string,
  where: string,
  value: unknown,
): Promise<void> {
  await database.tenant(tenantId).query(
    `UPDATE vault.secret_versions SET blob = NULL, destroyed_at = now()
       WHERE tenant_id = $1 AND ${where} AND blob IS NOT NULL`,
    [tenantId, value],
  );
}
