/** Verifies tokens that were issued to clients, such as an `id_token_hint`. */
import { createPublicKey } from 'node:crypto';
import { type CompactVerifyGetKey, compactVerify, errors } from 'jose';
import { CLIENT_ALGORITHMS } from './client-algorithms.ts';
import type { KeyPair } from './key-algorithms.ts';

const TOKEN_CHARACTERS_MAX = 8_192;

/** The claims of a token of this `typ` that one of the keys signed, even if it has expired. Otherwise undefined. */
export async function readClientToken(
  keys: readonly KeyPair[],
  typ: string,
  text: string,
): Promise<{ readonly [claim: string]: unknown } | undefined> {
  if (text.length > TOKEN_CHARACTERS_MAX) return undefined;
  const keyOf: CompactVerifyGetKey = ({ kid }) => {
    const key = keys.find((each) => each.kid === kid);
    if (key === undefined) throw new errors.JWKSNoMatchingKey();
    return createPublicKey(key.privateKey);
  };
  try {
    const token = await compactVerify(text, keyOf, { algorithms: [...CLIENT_ALGORITHMS] });
    const claims: unknown = JSON.parse(Buffer.from(token.payload).toString());
    const isOfType = token.protectedHeader.typ === typ;
    return isOfType && typeof claims === 'object' && claims !== null ? { ...claims } : undefined;
  } catch {
    // Another key or algorithm signed it, it was changed, or it is no token.
    return undefined;
  }
}
