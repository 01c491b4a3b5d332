/**
 * A field of an event that only the holder of its subject's key can read (AES-256-GCM). Deleting the
 * key erases the person from an immutable log.
 */
export type Sealed = {
  /** Names whose key it is: `user:<id>`, `tenant:<id>`, `webhook:<id>`, `context:<tenant>:<UTC day>` … */
  readonly subject: string;
  /** base64url of version, nonce, ciphertext and tag. */
  readonly box: string;
};

/** The AAD of an encrypted field: all three values are authenticated, so a ciphertext cannot be moved. */
export type FieldLocation = {
  readonly subject: string;
  readonly streamId: string;
  readonly field: string;
};

/** Seals and opens fields under the keys of one service's `subject_keys` table. */
export interface Sealer {
  /** Makes the subject's key when there is none yet; `erased`: there was one, and there never will be again. */
  seal(tenantId: string, place: FieldLocation, value: string): Promise<Sealed | 'erased'>;
  /**
   * Null when the subject's key was erased: any string could be the text of a field. Throws when the
   * ciphertext was changed.
   */
  open(
    sealed: Sealed,
    place: { readonly streamId: string; readonly field: string },
  ): Promise<string | null>;
  /** Makes whatever was sealed under the subject unreadable, for ever. Idempotent. */
  erase(subject: string): Promise<void>;
  /**
   * The same for all subjects of a tenant but network addresses (`context:…`), whose keys run out with the
   * audit log.
   */
  eraseTenant(tenantId: string): Promise<void>;
  /** A keyed hash that survives key rotation: 32 hex of HMAC under the tenant's (or the deployment's) index key. */
  indexHash(
    scope: { readonly tenantId: string } | 'deployment',
    ...parts: readonly string[]
  ): Promise<string>;
}

/** For a subject whose key cannot have been erased: one of a random name, or of a day that is not over. */
export function neverErased(sealed: Sealed | 'erased'): Sealed {
  if (sealed === 'erased') throw new Error('A key was erased that may not be.');
  return sealed;
}

/** The functions of a database that a sealer needs: table `subject_keys` in the service's schema. */
export interface SubjectKeyTable {
  read(subjectId: string): Promise<SubjectKeyRow | undefined>;
  /** Inserts if absent and answers the row that stands; one trip, whether it was there or not. */
  insertIfAbsent(row: SubjectKeyRow): Promise<SubjectKeyRow>;
  erase(subjectId: string): Promise<void>;
  /** Some of a tenant's keys but those of `context:`; answers whose, and none at the end. */
  eraseSomeOf(tenantId: string): Promise<readonly string[]>;
}
export type SubjectKeyRow = {
  readonly subjectId: string;
  readonly tenantId: string;
  /** Null: erased, never filled again. */
  readonly wrapped: Buffer | null;
  readonly kekId: string;
};

/**
 * Address and user agent of an event's metadata are sealed for a whole UTC day and for no stream, so
 * that a command can seal them before it knows its stream. They are dropped after 366 days.
 */
export const contextLocation = (
  tenantId: string,
  at: Date,
  field: 'ip' | 'user_agent',
): FieldLocation => ({
  subject: `context:${tenantId}:${at.toISOString().slice(0, 10)}`,
  streamId: 'context',
  field,
});
