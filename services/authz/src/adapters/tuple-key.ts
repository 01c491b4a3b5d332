/** Hashes that identify a tuple and its two ends in streams and tables. They are short, however long the ids are. */
import { hash } from 'node:crypto';
import { computedOnce } from '@cardea/runtime';
import { type Fields, WILDCARD } from '../relations/relation.ts';

const KEY_BYTES = 16;

/** The id of the tuple's stream, in hex: SHA-256 of tenant and fields. */
export const tupleKey = (tenantId: string, fields: Fields): string =>
  hash(
    'sha256',
    JSON.stringify([
      tenantId,
      fields.user_type,
      fields.user_id,
      fields.relation,
      fields.object_type,
      fields.object_id,
    ]),
  );

const KEPT_WILDCARDS_MAX = 1_000;
const wildcardKeys = computedOnce<string, string>(KEPT_WILDCARDS_MAX);

/** The key of all objects of a type. It is computed for every tuple but has few values, so it is cached. */
export function wildcardKey(type: string): string {
  return wildcardKeys(type, () => nodeKey(type, WILDCARD));
}

/** The key of a principal or object, in the form that a UUID column stores. */
export function nodeKey(type: string, id: string): string {
  const hex = hash('sha256', JSON.stringify([type, id])).slice(0, 2 * KEY_BYTES);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
