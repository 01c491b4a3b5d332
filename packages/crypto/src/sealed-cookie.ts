/** Encrypts the contents of a cookie, so that its browser can neither read nor change them. */
import type { DerivedKeys } from './derive.ts';
import { keyObjectOf } from './digest.ts';
import { decrypt, encrypt, type FieldBinding, Tampered } from './envelope.ts';

export const sealCookie = (text: string, aad: FieldBinding, { current }: DerivedKeys): string =>
  encrypt(keyObjectOf(current), text, aad).toString('base64url');

/** Undefined if it was changed, or made under another key. */
export function openCookie(
  value: string,
  aad: FieldBinding,
  { current, previous }: DerivedKeys,
): string | undefined {
  for (const key of previous === undefined ? [current] : [current, previous]) {
    try {
      return decrypt(keyObjectOf(key), Buffer.from(value, 'base64url'), aad).toString();
    } catch (error) {
      if (!(error instanceof Tampered)) throw error;
    }
  }
  return undefined;
}
