/**
 * A field of an event that only the holder of its subject's key can read (AES-256-GCM). Deleting the
 * key erases the person from an immutable log.
 */
export type Sealed = {
  /** The subject whose key it is: `user:<id>`, `tenant:<id>`, `webhook:<id>`, `context:<tenant>:<UTC day>` … */
  readonly subject: string;
  /** Version, nonce, ciphertext and tag in base64url. */
  readonly box: string;
};

/** The AAD of an encrypted field. All three values are authenticated, so a ciphertext cannot be moved. */
export type FieldLocation = {
  readonly subject: string;
  readonly streamId: string;
  readonly field: string;
};

/** Encrypts and decrypts fields under the keys of one service's `subject_keys` table. */
export interface Sealer {
  /**
   * Encrypts the value. Creates the subject's key if there was none. Returns `erased` if the key was erased, which is
   * permanent.
   */
  seal(tenantId: string, place: FieldLocation, value: string): Promise<Sealed | 'erased'>;
  /**
   * Returns null when the subject's key was erased, since any string could be the text of a field. Throws when the
   * ciphertext was changed.
   */
  open(
    sealed: Sealed,
    place: { readonly streamId: string; readonly field: string },
  ): Promise<string | null>;
  /** Makes everything that was encrypted under the subject's key unreadable for good. Idempotent. */
  erase(subject: string): Promise<void>;
  /**
   * Erases the keys of all subjects of a tenant except network addresses (`context:…`), whose keys expire with the
   * audit log.
   */
  eraseTenant(tenantId: string): Promise<void>;
  /**
   * A keyed hash that does not change with key rotation: 32 hexadecimal digits of an HMAC under the tenant's (or the
   * deployment's) index key.
   */
  indexHash(
    scope: { readonly tenantId: string } | 'deployment',
    ...parts: readonly string[]
  ): Promise<string>;
}

/** For a subject whose key cannot have been erased: one with a random name, or of the current day. */
export function neverErased(sealed: Sealed | 'erased'): Sealed {
  if (sealed === 'erased') throw new Error('A key was erased that may not be.');
  return sealed;
}

/** The functions of a database that a sealer needs: table `subject_keys` in the service's schema. */
export interface SubjectKeyTable {
  read(subjectId: string): Promise<SubjectKeyRow | undefined>;
  /** Inserts the row if there is none, and returns the stored row. It always takes one round trip. */
  insertIfAbsent(row: SubjectKeyRow): Promise<SubjectKeyRow>;
  erase(subjectId: string): Promise<void>;
  /** Erases some of a tenant's keys except those of `context:`. Returns their subjects; empty at the end. */
  eraseSomeOf(tenantId: string): Promise<readonly string[]>;
}
export type SubjectKeyRow = {
  readonly subjectId: string;
  readonly tenantId: string;
  /** Null if it was erased; it is never filled again. */
  readonly wrapped: Buffer | null;
  readonly kekId: string;
};
