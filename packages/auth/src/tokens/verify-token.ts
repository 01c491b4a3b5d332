import { type KeyObject, verify } from 'node:crypto';
import { canonicalBytes } from './canonical-bytes.ts';
import { TOKEN_CLASSES, type TokenClass, type VerifiedClaims } from './token-claims.ts';

/** The tolerated difference between the clocks of two hosts. */
export const CLOCK_TOLERANCE_S = 30;
const TOKEN_BYTES_MAX = 8192;

/** `unknown_key`: well formed and of the class, but signed by a key that is not (or no longer) in the set. */
export type Verified =
  | { readonly ok: VerifiedClaims }
  /** Valid in every other respect. */
  | { readonly bad: 'expired'; readonly claims: VerifiedClaims }
  | { readonly bad: 'unknown_key'; readonly kid: string }
  | { readonly bad: 'invalid' };

export type VerifyDependencies = {
  readonly tokenClass: TokenClass;
  readonly issuer: string;
  /** Looks only in the local set. */
  readonly keyOf: (kid: string) => KeyObject | undefined;
  readonly nowSeconds: number;
  /** This process has just signed this token, so its signature is not verified again. */
  readonly isSignedHere?: boolean;
  /**
   * Only introspection sets this. Tokens for other resources are then verified too, so it must not be used to accept a
   * token.
   */
  readonly anyAudience?: true;
};

const INVALID = { bad: 'invalid' } as const;

/**
 * Verifies a compact JWS of one class of ours. `alg` must be EdDSA, the key must be in our own set, and header and
 * claims must be encoded exactly as our signers do. Never throws because of a caller's input.
 */
export function verifyToken(token: string, needs: VerifyDependencies): Verified {
  const segments = threeSegments(token);
  if (segments === undefined) return INVALID;
  const kid = keyIdOf(segments.header, TOKEN_CLASSES[needs.tokenClass].typ);
  if (kid === undefined) return INVALID;
  const key = needs.keyOf(kid);
  if (key === undefined) return { bad: 'unknown_key', kid };
  if (needs.isSignedHere !== true && !isSignedBy(key, segments)) return INVALID;
  const claims = claimsOf(segments.payload);
  if (claims === undefined || !isMeantForUs(claims, needs)) return INVALID;
  return atThisTime(claims, needs.nowSeconds);
}

type Segments = {
  readonly header: Buffer;
  readonly payload: Buffer;
  readonly signature: Buffer;
  readonly signed: string;
};

const isSignedBy = (key: KeyObject, { signed, signature }: Segments): boolean =>
  verify(null, Buffer.from(signed), key, signature);

function threeSegments(token: string): Segments | undefined {
  if (token.length > TOKEN_BYTES_MAX) return undefined;
  const parts = token.split('.', 4);
  if (parts.length !== 3) return undefined;
  const [header, payload, signature] = parts.map(canonicalBytes);
  if (header === undefined || payload === undefined || signature === undefined) return undefined;
  return { header, payload, signature, signed: token.slice(0, token.lastIndexOf('.')) };
}

/**
 * The header consists of `alg`, `typ` and `kid` and nothing else. So there is no `crit`, no embedded key or key
 * address, and no other way to influence the verification.
 */
function keyIdOf(bytes: Buffer, typ: string): string | undefined {
  const header = jsonObject(bytes);
  if (header === undefined || Object.keys(header).length !== 3) return undefined;
  if (header['alg'] !== 'EdDSA' || header['typ'] !== typ) return undefined;
  return typeof header['kid'] === 'string' ? header['kid'] : undefined;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text must equal the output of `JSON.stringify`, so that no name occurs twice and all parsers agree. */
function jsonObject(bytes: Buffer): Record<string, unknown> | undefined {
  try {
    const text = UTF8.decode(bytes);
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return JSON.stringify(value) === text ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function claimsOf(payload: Buffer): VerifiedClaims | undefined {
  const claims = jsonObject(payload);
  if (claims === undefined) return undefined;
  const { sub, tid, tenant_id, jti, iat, exp, nbf } = claims;
  const texts = [sub, tid, tenant_id, jti].every((each) => typeof each === 'string' && each !== '');
  const times = [iat, exp, nbf ?? 0].every((each) => Number.isFinite(each));
  return texts && times && tid === tenant_id ? (claims as VerifiedClaims) : undefined;
}

function isMeantForUs({ iss, aud }: VerifiedClaims, needs: VerifyDependencies): boolean {
  const ours = TOKEN_CLASSES[needs.tokenClass].audience(needs.issuer);
  if (iss !== needs.issuer) return false;
  if (needs.anyAudience === true) return true;
  return Array.isArray(aud) ? aud.includes(ours) : aud === ours;
}

function atThisTime(claims: VerifiedClaims, nowSeconds: number): Verified {
  const soonest = Math.max(claims.iat, Number(claims['nbf'] ?? 0));
  if (soonest > nowSeconds + CLOCK_TOLERANCE_S) return INVALID;
  // The expiry has no clock tolerance, so that every service refuses a token that introspection calls inactive.
  return nowSeconds >= claims.exp ? { bad: 'expired', claims } : { ok: claims };
}
