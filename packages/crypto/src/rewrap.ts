import { type WrapKeys, wrapKeyOf } from './derive.ts';
import { decrypt, encrypt, type FieldBinding } from './envelope.ts';

/** None of this process's keys decrypts a stored key: it was wrapped under another ENCRYPTION_KEY. */
export class UnknownWrapKey extends Error {
  override readonly name = 'UnknownWrapKey';
}

export type WrappedKey = { readonly wrapped: Buffer; readonly kekId: string };

/**
 * Wraps the same key under the current wrapping key. `placeOf` returns the binding of the wrapped key under
 * either wrapping key.
 */
export function rewrap(
  { wrapped, kekId }: WrappedKey,
  keys: WrapKeys,
  placeOf: (kekId: string) => FieldBinding,
): WrappedKey {
  const plain = decrypt(knownWrapKey(keys, kekId).key, wrapped, placeOf(kekId));
  const { id, key } = keys.current;
  const again = encrypt(key, plain, placeOf(id));
  plain.fill(0);
  return { wrapped: again, kekId: id };
}

export function knownWrapKey(keys: WrapKeys, kekId: string) {
  const found = wrapKeyOf(keys, kekId);
  if (found === undefined) throw new UnknownWrapKey(foreignKey([kekId], keys));
  return found;
}

/** Identifies the stored keys and ours by their ids, which reveal nothing about the keys. */
export function foreignKey(stored: readonly string[], { current, previous }: WrapKeys): string {
  const ours = `${current.id}${previous === undefined ? '' : `, ENCRYPTION_KEY_PREVIOUS is ${previous.id}`}`;
  return `Stored keys are wrapped under ${stored.join(', ')}, and ENCRYPTION_KEY is ${ours}. Give the key that they are wrapped under, or run keys rewrap with the settings that fit before you change it again.`;
}
