/**
 * Metadata: objects that administrators store with a user. The user can read the public one. Changes are merge patches
 * (RFC 7396).
 */
import type { Sealed } from '@cardea/crypto';

export type Metadata = { readonly [key: string]: unknown };

export const METADATA_KINDS = ['public_metadata', 'private_metadata'] as const;
export type MetadataKind = (typeof METADATA_KINDS)[number];

/** The metadata of a new user. Empty objects are left out. */
export type NewMetadata = { readonly [kind in MetadataKind]?: Metadata };
export type SealedMetadata = { readonly [kind in MetadataKind]?: Sealed };

/**
 * The new encrypted object, and the one that it was derived from. Of two concurrent changes the second is derived
 * again.
 */
export type MetadataChange = { readonly after: Sealed | null; readonly before: Sealed | null };
export type MetadataChanges = { readonly [kind in MetadataKind]?: MetadataChange };

const BYTES_MAX = 4_096;
const DEPTH_MAX = 5;
const KEYS_MAX = 50;
/** Names that JavaScript resolves on every object. */
const RESERVED: readonly string[] = ['__proto__', 'constructor', 'prototype'];

export type MetadataFault = 'too_large' | 'too_deep' | 'too_many_keys' | 'reserved_key';

/** A null patch clears the object. */
export const mergeMetadata = (before: Metadata, patch: Metadata | null): Metadata =>
  patch === null ? {} : merged(before, patch);

function merged(before: unknown, patch: Metadata): Metadata {
  const result = new Map(Object.entries(isObject(before) ? before : {}));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key);
    else result.set(key, isObject(value) ? merged(result.get(key), value) : value);
  }
  return Object.fromEntries(result);
}

/** Checked for a patch before the merge, and for the result of the merge. */
export function metadataFault(metadata: Metadata | null): MetadataFault | undefined {
  if (metadata === null) return undefined;
  if (Buffer.byteLength(JSON.stringify(metadata)) > BYTES_MAX) return 'too_large';
  let level: readonly unknown[] = [metadata];
  let keys = 0;
  for (let depth = 1; level.length > 0; depth += 1) {
    const objects = level.filter(isObject);
    const lists = level.filter(Array.isArray);
    if (objects.length + lists.length > 0 && depth > DEPTH_MAX) return 'too_deep';
    const names = objects.flatMap((object) => Object.keys(object));
    if (names.some((name) => RESERVED.includes(name))) return 'reserved_key';
    keys += names.length;
    if (keys > KEYS_MAX) return 'too_many_keys';
    level = [...objects.flatMap((object) => Object.values(object)), ...lists.flat()];
  }
  return undefined;
}

const isObject = (value: unknown): value is Metadata =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
