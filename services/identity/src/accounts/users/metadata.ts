/**
 * What administrators keep about a user in objects of their own: the public one is shown to the user too. Changes
 * are merge patches (RFC 7396).
 */
import type { Sealed } from '@cardea/crypto';

export type Metadata = { readonly [key: string]: unknown };

export const METADATA_KINDS = ['public_metadata', 'private_metadata'] as const;
export type MetadataKind = (typeof METADATA_KINDS)[number];

/** The metadata of a new user; an empty object is left out. */
export type NewMetadata = { readonly [kind in MetadataKind]?: Metadata };
export type SealedMetadata = { readonly [kind in MetadataKind]?: Sealed };

/** An encrypted object, and the one that it was made from: of two changes at once the second is made again. */
export type MetadataChange = { readonly after: Sealed | null; readonly before: Sealed | null };
export type MetadataChanges = { readonly [kind in MetadataKind]?: MetadataChange };

const BYTES_MAX = 4_096;
const DEPTH_MAX = 5;
const KEYS_MAX = 50;
/** Names by which JavaScript reaches what every object has. */
const RESERVED: readonly string[] = ['__proto__', 'constructor', 'prototype'];

export type MetadataFault = 'too_large' | 'too_deep' | 'too_many_keys' | 'reserved_key';

/** Null clears the object. */
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

/** Asked of a patch before it is merged, and of what it makes. */
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
