/**
 * Public keys with which clients authenticate (`private_key_jwt`). Each registered key verifies assertions of at least
 * one algorithm. A key that cannot is refused at registration.
 */
import { createPublicKey, type JsonWebKey } from 'node:crypto';

/** Algorithms of client assertions, at the library's endpoints and at ours. */
export const ASSERTION_ALGORITHMS = [
  'EdDSA',
  'Ed25519',
  'ES256',
  'RS256',
  'PS256',
] as const satisfies readonly string[];
type AssertionAlgorithm = (typeof ASSERTION_ALGORITHMS)[number];

export const CLIENT_KEY_CURVES = ['Ed25519', 'P-256'] as const;
const RSA_BITS_MIN = 2_048;
/** Longer keys cost more to verify than one request may. */
const RSA_BITS_MAX = 8_192;

type Jwk = { readonly [member: string]: string };

export type ClientKeyRule = 'algorithm' | 'key' | 'rsa_size';

/** Why no assertion can be verified with the key. Undefined for a usable key. */
export function clientKeyRule(jwk: Jwk): ClientKeyRule | undefined {
  const possible = algorithmsOf(jwk);
  const { alg } = jwk;
  if (possible.length === 0) return 'algorithm';
  if (alg !== undefined && !possible.some((each) => each === alg)) return 'algorithm';
  const bits = publicKeyBits(jwk);
  if (bits === undefined) return 'key';
  if (jwk['kty'] !== 'RSA') return undefined;
  return bits < RSA_BITS_MIN || bits > RSA_BITS_MAX ? 'rsa_size' : undefined;
}

/** EdDSA and Ed25519 name one algorithm (RFC 9864), so a key that is registered for one verifies both. */
export function verificationKey({ alg, ...jwk }: Jwk): Jwk {
  return alg === undefined || jwk['kty'] === 'OKP' ? jwk : { ...jwk, alg };
}

function algorithmsOf({ kty, crv }: Jwk): readonly AssertionAlgorithm[] {
  if (kty === 'OKP' && crv === 'Ed25519') return ['EdDSA', 'Ed25519'];
  if (kty === 'EC' && crv === 'P-256') return ['ES256'];
  if (kty === 'RSA' && crv === undefined) return ['RS256', 'PS256'];
  return [];
}

/**
 * The key's length in bits. Undefined if it is no key, or is not in canonical encoding, which stricter libraries
 * refuse.
 */
function publicKeyBits(jwk: Jwk): number | undefined {
  try {
    const key = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' });
    const canonical = key.export({ format: 'jwk' });
    const isCanonical = (['x', 'y', 'n', 'e'] as const).every(
      (member) => jwk[member] === canonical[member],
    );
    return isCanonical ? (key.asymmetricKeyDetails?.modulusLength ?? 0) : undefined;
  } catch {
    return undefined;
  }
}
