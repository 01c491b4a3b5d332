import { type KeyObject, verify } from 'node:crypto';
import { canonicalBytes } from './canonical-bytes.ts';
import { TOKEN_CLASSES, type TokenClass, type VerifiedClaims } from './token-claims.ts';

/** How far the clocks of two hosts may be apart. */
export const CLOCK_TOLERANCE_S = 30;
const TOKEN_BYTES_MAX = 8192;

/** `unknown_key`: well formed, of the class, but signed by a key that is not in the set (any more). */
export type Verified =
  | { readonly ok: VerifiedClaims }
  /** Genuine in every other respect. */
  | { readonly bad: 'expired'; readonly claims: VerifiedClaims }
  | { readonly bad: 'unknown_key'; readonly kid: string }
  | { readonly bad: 'invalid' };

export type VerifyDependencies = {
  readonly tokenClass: TokenClass;
  readonly issuer: string;
  /** From the local set only. */
  readonly keyOf: (kid: string) => KeyObject | undefined;
  readonly nowSeconds: number;
  /** This process has just signed the very token: its signature is not computed again. */
  readonly isSignedHere?: boolean;
  /** For who asks what a token is, not for who lets it in: tokens for other resources are verified too. */
  readonly anyAudience?: true;
};

const INVALID = { bad: 'invalid' } as const;

/**
 * A compact JWS of one class of ours, or not: `alg` is EdDSA, the key comes from our own set, header
 * and claims are spelled as a signer of ours spells them. Never throws for what a caller sent.
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
 * The header is `alg`, `typ` and `kid`, and nothing else: so no `crit`, no key or address of a key
 * brought along, nothing that asks to be treated specially.
 */
function keyIdOf(bytes: Buffer, typ: string): string | undefined {
  const header = jsonObject(bytes);
  if (header === undefined || Object.keys(header).length !== 3) return undefined;
  if (header['alg'] !== 'EdDSA' || header['typ'] !== typ) return undefined;
  return typeof header['kid'] === 'string' ? header['kid'] : undefined;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Spelled as `JSON.stringify` spells it, so that no name stands twice and no two parsers differ. */
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
  if (isExpired(claims, nowSeconds)) return { bad: 'expired', claims };
  return { ok: claims };
}

/** Without tolerance: a token that introspection calls inactive is refused everywhere. */
export const isExpired = ({ exp }: { readonly exp: number }, nowSeconds: number): boolean =>
  nowSeconds >= exp;
