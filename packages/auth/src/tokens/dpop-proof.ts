/**
 * Verifies a proof that a caller has the key to which its access token is bound (DPoP, RFC 9449). All proofs of one key
 * have the same header, so its key is parsed once. No result is cached, because each proof is new.
 *
 * This does not use jose, because a proof would then cost as much as three token checks. Processor time of one ES256
 * proof, with 32 concurrent proofs on two cores, in the main thread and in total: jose 160 and 290 µs; jose with an
 * imported key 65 and 190 µs; Node with r and s in raw form 140 and 145 µs, half of it for finding the curve; this
 * module 15 and 100 µs, using libuv's pool and OpenSSL's signature format. A whole check as Bearer takes 54 µs.
 * `dpop-proof.jose.test.ts` compares the results with those of jose.
 */
import { createPublicKey, hash, type KeyObject, verify } from 'node:crypto';
import { type Clock, expiringCache } from '@cardea/runtime';
import { canonicalBytes } from './canonical-bytes.ts';
import { jwkThumbprint } from './jwk-thumbprint.ts';

/** The names in `WWW-Authenticate` and in the metadata of the authorization server. */
export const DPOP_ALGORITHMS = ['ES256', 'EdDSA', 'Ed25519', 'RS256', 'PS256'] as const;
type Algorithm = (typeof DPOP_ALGORITHMS)[number];

export const DPOP_PROOF_MAX_BYTES = 4 * 1024;
/** How far `iat` may be from the clock of this host, in either direction. */
export const DPOP_PROOF_S = 60;
/** A proof dated in the future stays valid until twice that time has passed. */
const REPLAY_MS = 2 * DPOP_PROOF_S * 1000;
const JTI_MAX_CHARS = 512;
const CACHED_KEYS_MAX = 1_000;
const CACHED_KEY_MS = 300_000;
const RSA_BITS_MIN = 2048;
const RSA_BITS_MAX = 4096;

export type DpopProofDependencies = {
  readonly issuer: string;
  readonly clock: Clock;
  /** Shared by all replicas. Throws CacheUnavailable. */
  readonly cache: {
    readonly setIfAbsent: (key: string, value: string, ttlMs?: number) => Promise<boolean>;
  };
};

/** The request that a proof is for. */
export type ProvenRequest = {
  readonly method: string;
  readonly path: string;
  /** SHA-256 of the access token in base64url, which `ath` must equal. */
  readonly tokenDigest: string;
  /** RFC 7638 thumbprint of the key to which the token is bound. */
  readonly thumbprint: string;
};

export interface DpopProofs {
  /**
   * Reads a proof in a request for a token, when the token does not exist yet. Returns undefined for a proof that is
   * not signed, not current or not for this request.
   */
  read(
    proof: string,
    request: Pick<ProvenRequest, 'method' | 'path'>,
  ): Promise<ReadProof | undefined>;
  /** True once for each proof. Throws CacheUnavailable if it is unknown whether the proof was used before. */
  isProven(proof: string, request: ProvenRequest): Promise<boolean>;
}

export type ReadProof = {
  readonly thumbprint: string;
  /** True once for each proof. Throws CacheUnavailable. */
  readonly use: () => Promise<boolean>;
};

type ProofKey = {
  readonly alg: Algorithm;
  readonly publicKey: KeyObject;
  /** Whether OpenSSL has read the key itself, which happens when the key comes a second time. */
  readonly isReread: boolean;
  readonly thumbprint: string;
};

export function dpopProofs({ issuer, clock, cache }: DpopProofDependencies): DpopProofs {
  const keys = expiringCache<string, ProofKey>(clock, {
    entriesMax: CACHED_KEYS_MAX,
    ttlMs: CACHED_KEY_MS,
  });
  const keyOf = (header: string): ProofKey | undefined => {
    const known = keys.get(header);
    if (known?.isReread === true) return known;
    const found = known === undefined ? proofKeyOf(header) : reread(known);
    if (found !== undefined) keys.set(header, found);
    return found;
  };
  const read = async (proof: string, request: Requested): Promise<ReadProof | undefined> => {
    if (proof.length > DPOP_PROOF_MAX_BYTES) return undefined;
    const [header = '', payload = '', signature = '', ...more] = proof.split('.', 4);
    const key = more.length === 0 ? keyOf(header) : undefined;
    if (key === undefined) return undefined;
    const { thumbprint } = key;
    // Compared before any signature is verified, so that a stranger's proof costs no more than this.
    if ((request.thumbprint ?? thumbprint) !== thumbprint) return undefined;
    const jti = usableJti(payload, { request, issuer, nowSeconds: clock.now().getTime() / 1000 });
    if (jti === undefined) return undefined;
    if (!(await isSigned(key, `${header}.${payload}`, signature))) return undefined;
    // Recorded after the signature, so that a caller without the key cannot fill the cache.
    const name = `dpop:${thumbprint}:${hash('sha256', jti, 'base64url')}`;
    return { thumbprint, use: () => cache.setIfAbsent(name, '1', REPLAY_MS) };
  };
  return {
    read,
    isProven: async (proof, request) => (await (await read(proof, request))?.use()) ?? false,
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
  const { jti, htm, htu, iat, ath, exp, nbf } = jsonOf(payload) ?? {};
  if (typeof jti !== 'string' || jti === '' || jti.length > JTI_MAX_CHARS) return undefined;
  if (htm !== request.method) return undefined;
  if (request.tokenDigest !== undefined && ath !== request.tokenDigest) return undefined;
  if (typeof iat !== 'number' || Math.abs(nowSeconds - iat) > DPOP_PROOF_S) return undefined;
  if (!isWithin(nbf, exp, nowSeconds)) return undefined;
  return typeof htu === 'string' && isTarget(htu, request.path, issuer) ? jti : undefined;
}

/** A proof needs neither claim. If it has them, they must be satisfied (RFC 7519, 4.1.4 and 4.1.5). */
const isWithin = (nbf: unknown, exp: unknown, nowSeconds: number): boolean =>
  (nbf === undefined || (typeof nbf === 'number' && nbf <= nowSeconds + DPOP_PROOF_S)) &&
  (exp === undefined || (typeof exp === 'number' && exp > nowSeconds - DPOP_PROOF_S));

/** RFC 9449, 4.3: compares without query and fragment, after normalizing both. */
function isTarget(htu: string, path: string, issuer: string): boolean {
  if (htu === issuer + path) return true; // Nearly all clients use this spelling.
  const sent = URL.parse(htu);
  const own = URL.parse(path, issuer);
  if (sent === null || own === null) return false;
  return sent.origin === own.origin && sent.pathname === own.pathname;
}

function isSigned({ alg, publicKey }: ProofKey, signed: string, text: string): Promise<boolean> {
  const bytes = canonicalBytes(text);
  const signature = alg === 'ES256' && bytes !== undefined ? asDer(bytes) : bytes;
  if (signature === undefined) return Promise.resolve(false);
  const digest = alg === 'EdDSA' || alg === 'Ed25519' ? null : 'sha256';
  const key = alg === 'PS256' ? { key: publicKey, ...PSS } : publicKey;
  return new Promise((resolve, reject) => {
    verify(digest, Buffer.from(signed), key, signature, (error, isRight) =>
      error === null ? resolve(isRight) : reject(error),
    );
  });
}

/** RSA_PKCS1_PSS_PADDING, with a salt as long as the hash (RFC 7518, 3.5). */
const PSS = { padding: 6, saltLength: 32 } as const;

const P256_BYTES = 32;
const DER_INTEGER = 0x02;
const DER_SEQUENCE = 0x30;

/** Converts the format of RFC 7518, 3.4 (r and s, 32 bytes each) to OpenSSL's. */
function asDer(signature: Buffer): Buffer | undefined {
  if (signature.length !== 2 * P256_BYTES) return undefined;
  const numbers = [signature.subarray(0, P256_BYTES), signature.subarray(P256_BYTES)];
  const content = Buffer.concat(numbers.map(derInteger));
  return Buffer.concat([Buffer.of(DER_SEQUENCE, content.length), content]);
}

/** Removes leading zeros, except the one that keeps a number from being negative. */
function derInteger(bytes: Buffer): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const digits = first === -1 ? Buffer.of(0) : bytes.subarray(first);
  const sign = (digits[0] ?? 0) < 0x80 ? [] : [0];
  return Buffer.concat([Buffer.of(DER_INTEGER, sign.length + digits.length, ...sign), digits]);
}

/** Undefined if it is not the header of a proof: another type, algorithm or kind of key, or a private key. */
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
    return { alg, publicKey, isReread: false, thumbprint: jwkThumbprint(members) };
  } catch {
    return undefined; // The coordinates are no point of the curve, or the key is invalid.
  }
}

/**
 * OpenSSL verifies 20 µs faster with a key that it has read itself than with one that Node has made from a JWK. Reading
 * it takes 150 µs, which is lost if the key comes only once.
 */
function reread(key: ProofKey): ProofKey {
  const der = key.publicKey.export({ format: 'der', type: 'spki' });
  const publicKey = createPublicKey({ key: der, format: 'der', type: 'spki' });
  return { ...key, publicKey, isReread: true };
}

const isAlgorithm = (alg: unknown): alg is Algorithm =>
  DPOP_ALGORITHMS.some((known) => known === alg);

/** The members that the thumbprint covers, in its order. */
function membersOf(
  alg: Algorithm,
  jwk: unknown,
): { readonly [member: string]: string } | undefined {
  if (typeof jwk !== 'object' || jwk === null) return undefined;
  if (PRIVATE_MEMBERS.some((member) => member in jwk)) return undefined;
  const { kty, crv, x, y, n, e, ...more } = jwk as { readonly [member: string]: unknown };
  if (!isForProofs(more, alg)) return undefined;
  const members = MEMBERS[alg];
  const found = { crv, e, kty, n, x, y };
  if (kty !== members.kty || ('crv' in members && crv !== members.crv)) return undefined;
  const named = members.names.map((name) => [name, found[name]] as const);
  return named.every(([, value]) => typeof value === 'string' && value !== '')
    ? Object.fromEntries(named as readonly (readonly [string, string])[])
    : undefined;
}

/** Private members (RFC 7518, 6). Even one of them would show that the owner has disclosed the key. */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'] as const;

/** A key that states its use is accepted for no other use (RFC 7517, 4). */
function isForProofs(
  { use, key_ops: operations, alg }: { readonly [member: string]: unknown },
  ofProof: Algorithm,
): boolean {
  if (use !== undefined && use !== 'sig') return false;
  if (alg !== undefined && alg !== ofProof) return false;
  // A public key supports no other operation.
  return operations === undefined || JSON.stringify(operations) === '["verify"]';
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

function jsonOf(segment: string): { readonly [name: string]: unknown } | undefined {
  const bytes = canonicalBytes(segment);
  if (bytes === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(UTF8.decode(bytes));
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
