/**
 * A proof that a caller has the key to which its access token is bound (DPoP, RFC 9449). The header of a proof is
 * the same in every proof of one key, so the key is read from it once.
 */
import { createPublicKey, hash, type KeyObject, verify } from 'node:crypto';
import { type Clock, expiringCache } from '@cardea/runtime';
import { jwkThumbprint } from './jwk-thumbprint.ts';

/** As they stand in `WWW-Authenticate` and in the metadata of the authorization server. */
export const DPOP_ALGORITHMS = ['ES256', 'EdDSA', 'Ed25519', 'RS256', 'PS256'] as const;
type Algorithm = (typeof DPOP_ALGORITHMS)[number];

export const DPOP_PROOF_MAX_BYTES = 4 * 1024;
/** How far `iat` may be from the clock of this host, in either direction. */
export const DPOP_PROOF_S = 60;
/** A proof of the future is good until twice that has passed. */
const REPLAY_MS = 2 * DPOP_PROOF_S * 1000;
const JTI_MAX_CHARS = 512;
const CACHED_KEYS_MAX = 1_000;
const CACHED_KEY_MS = 300_000;
const RSA_BITS_MIN = 2048;
const RSA_BITS_MAX = 4096;

export type DpopProofDependencies = {
  readonly issuer: string;
  readonly clock: Clock;
  /** Shared by all replicas; throws CacheUnavailable. */
  readonly cache: {
    readonly setIfAbsent: (key: string, value: string, ttlMs?: number) => Promise<boolean>;
  };
};

/** The request that a proof is for. */
export type ProvenRequest = {
  readonly method: string;
  readonly path: string;
  /** SHA-256 of the access token, base64url: what `ath` has to be. */
  readonly tokenDigest: string;
  /** RFC 7638 thumbprint of the key to which the token is bound. */
  readonly thumbprint: string;
};

export interface DpopProofs {
  /**
   * A proof that comes with a request for a token, when the token does not exist yet. Undefined for one that is
   * not of this request, of now and signed. `use` is true once for each proof and throws CacheUnavailable.
   */
  read(
    proof: string,
    request: Pick<ProvenRequest, 'method' | 'path'>,
  ): { readonly thumbprint: string; readonly use: () => Promise<boolean> } | undefined;
  /**
   * True once for each proof. Throws CacheUnavailable where it cannot be found out whether the proof was used
   * before.
   */
  isProven(proof: string, request: ProvenRequest): Promise<boolean>;
}

type ProofKey = {
  readonly alg: Algorithm;
  readonly publicKey: KeyObject;
  readonly thumbprint: string;
};

export function dpopProofs({ issuer, clock, cache }: DpopProofDependencies): DpopProofs {
  const keys = expiringCache<string, ProofKey>(clock, {
    entriesMax: CACHED_KEYS_MAX,
    ttlMs: CACHED_KEY_MS,
  });
  const keyOf = (header: string): ProofKey | undefined => {
    const known = keys.get(header);
    if (known !== undefined) return known;
    const found = proofKeyOf(header);
    if (found !== undefined) keys.set(header, found);
    return found;
  };
  const read = (proof: string, request: Requested) => {
    if (proof.length > DPOP_PROOF_MAX_BYTES) return undefined;
    const [header = '', payload = '', signature = '', ...more] = proof.split('.', 4);
    if (more.length > 0 || ![payload, signature].every(isBase64url)) return undefined;
    const key = keyOf(header);
    if (key === undefined) return undefined;
    const { thumbprint } = key;
    // Compared before any signature is verified: a stranger's proof costs no more than this.
    if ((request.thumbprint ?? thumbprint) !== thumbprint) return undefined;
    const jti = usableJti(payload, { request, issuer, nowSeconds: clock.now().getTime() / 1000 });
    if (jti === undefined || !isSigned(key, `${header}.${payload}`, signature)) return undefined;
    const name = `dpop:${thumbprint}:${hash('sha256', jti, 'base64url')}`;
    return { thumbprint, use: () => cache.setIfAbsent(name, '1', REPLAY_MS) };
  };
  return {
    read,
    isProven: async (proof, request) => (await read(proof, request)?.use()) ?? false,
  };
}

type Requested = Pick<ProvenRequest, 'method' | 'path'> & Partial<ProvenRequest>;

function usableJti(
  payload: string,
  of: {
    readonly request: Requested;
    readonly issuer: string;
    readonly nowSeconds: number;
  },
): string | undefined {
  const { request, issuer, nowSeconds } = of;
  const { jti, htm, htu, iat, ath } = jsonOf(payload) ?? {};
  if (typeof jti !== 'string' || jti === '' || jti.length > JTI_MAX_CHARS) return undefined;
  if (htm !== request.method) return undefined;
  if (request.tokenDigest !== undefined && ath !== request.tokenDigest) return undefined;
  if (typeof iat !== 'number' || Math.abs(nowSeconds - iat) > DPOP_PROOF_S) return undefined;
  return typeof htu === 'string' && isTarget(htu, request.path, issuer) ? jti : undefined;
}

/** RFC 9449, 4.3: without query and fragment, and after the normalization of both. */
function isTarget(htu: string, path: string, issuer: string): boolean {
  const sent = URL.parse(htu);
  const own = URL.parse(path, issuer);
  if (sent === null || own === null) return false;
  return sent.origin === own.origin && sent.pathname === own.pathname;
}

const isSigned = ({ alg, publicKey }: ProofKey, signed: string, signature: string): boolean =>
  verify(
    alg === 'EdDSA' || alg === 'Ed25519' ? null : 'sha256',
    Buffer.from(signed),
    { key: publicKey, ...SIGNATURE_FORMS[alg] },
    Buffer.from(signature, 'base64url'),
  );

/** RSA_PKCS1_PSS_PADDING, with a salt as long as the hash (RFC 7518, 3.5). */
const PSS = { padding: 6, saltLength: 32 } as const;
const SIGNATURE_FORMS = {
  ES256: { dsaEncoding: 'ieee-p1363' },
  EdDSA: {},
  Ed25519: {},
  RS256: {},
  PS256: PSS,
} as const;

/** Undefined for what is no header of a proof: another type, algorithm or kind of key, or a private key. */
function proofKeyOf(header: string): ProofKey | undefined {
  const { typ, alg, jwk, crit } = jsonOf(header) ?? {};
  if (typ !== 'dpop+jwt' || crit !== undefined || !isAlgorithm(alg)) return undefined;
  const members = membersOf(alg, jwk);
  if (members === undefined) return undefined;
  try {
    const publicKey = createPublicKey({ key: members, format: 'jwk' });
    const { modulusLength } = publicKey.asymmetricKeyDetails ?? {};
    const isTooShort = modulusLength !== undefined && modulusLength < RSA_BITS_MIN;
    const isTooLong = modulusLength !== undefined && modulusLength > RSA_BITS_MAX;
    if (isTooShort || isTooLong) return undefined;
    return { alg, publicKey, thumbprint: jwkThumbprint(members) };
  } catch {
    return undefined; // no point of the curve, or no key at all
  }
}

const isAlgorithm = (alg: unknown): alg is Algorithm =>
  DPOP_ALGORITHMS.some((known) => known === alg);

/** The members that the thumbprint is of, in its order. */
function membersOf(
  alg: Algorithm,
  jwk: unknown,
): { readonly [member: string]: string } | undefined {
  if (typeof jwk !== 'object' || jwk === null || 'd' in jwk) return undefined;
  const { kty, crv, x, y, n, e } = jwk as { readonly [member: string]: unknown };
  const members = MEMBERS[alg];
  const found = { crv, e, kty, n, x, y };
  if (kty !== members.kty || ('crv' in members && crv !== members.crv)) return undefined;
  const named = members.names.map((name) => [name, found[name]] as const);
  return named.every(([, value]) => typeof value === 'string' && value !== '')
    ? Object.fromEntries(named as readonly (readonly [string, string])[])
    : undefined;
}

const EDWARDS = { kty: 'OKP', crv: 'Ed25519', names: ['crv', 'kty', 'x'] } as const;
const RSA = { kty: 'RSA', names: ['e', 'kty', 'n'] } as const;
const MEMBERS = {
  ES256: { kty: 'EC', crv: 'P-256', names: ['crv', 'kty', 'x', 'y'] },
  EdDSA: EDWARDS,
  Ed25519: EDWARDS,
  RS256: RSA,
  PS256: RSA,
} as const;

const isBase64url = (segment: string): boolean => /^[\w-]+$/.test(segment);

function jsonOf(segment: string): { readonly [name: string]: unknown } | undefined {
  if (!isBase64url(segment)) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(segment, 'base64url').toString());
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
