/** Signs tokens for clients (id_token, logout token, signed userinfo) with each client's algorithm. */
import type { ClientAlgorithm } from '../adapters/client-algorithms.ts';
import { type KeyAlgorithm, type KeyPair, signatureBy } from '../adapters/key-algorithms.ts';

/**
 * Signs claims as a compact JWS of this `typ` (`JWT`, `logout+jwt`) for a client whose `id_token_signed_response_alg`
 * is `alg`. It adds no claims: the caller provides `iss`, `aud`, `iat`, `exp` and `jti`. No verifier of Cardea accepts
 * the result as an access token.
 */
export type SignForClient = (alg: ClientAlgorithm, typ: string, claims: object) => string;

export const clientSigner =
  (active: (algorithm: KeyAlgorithm) => KeyPair): SignForClient =>
  (alg, typ, claims) => {
    const key = active(keyAlgorithmOf(alg));
    const header = base64url(JSON.stringify({ alg, typ, kid: key.kid }));
    const signed = `${header}.${base64url(JSON.stringify(claims))}`;
    return `${signed}.${signatureBy(key, Buffer.from(signed)).toString('base64url')}`;
  };

const keyAlgorithmOf = (alg: ClientAlgorithm): KeyAlgorithm => (alg === 'Ed25519' ? 'EdDSA' : alg);

const base64url = (text: string): string => Buffer.from(text).toString('base64url');
