/**
 * Verifies client assertions (RFC 7523) at our own endpoints. The library verifies them at its endpoints. Both record
 * used assertions in the same cache, so one assertion cannot be used once at each.
 */
import { sha256 } from '@cardea/crypto';
import { createLocalJWKSet, decodeJwt, type JWK, type JWTVerifyOptions, jwtVerify } from 'jose';
import type { ArtifactCache } from './artifact-cache.ts';
import { ASSERTION_ALGORITHMS, verificationKey } from './client-key.ts';

export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
/** The longest time for which a used assertion is recorded. */
const LIFE_SECONDS_MAX = 3_600;
const TOLERANCE_SECONDS = 15;
const USED = 'ReplayDetection';

/** The client that the assertion names, without any verification. Undefined if the text is no JWT. */
export function assertedClient(assertion: string): string | undefined {
  try {
    return decodeJwt(assertion).sub;
  } catch {
    return undefined;
  }
}

export type Asserted = {
  readonly assertion: string;
  readonly clientId: string;
  readonly keys: readonly { readonly [member: string]: string }[];
  /** The accepted audiences, any of which suffices: the issuer, or the endpoint. */
  readonly audience: readonly string[];
  readonly now: Date;
};

/** Returns true for the first use of a valid assertion. */
export async function isAsserted(
  artifacts: Pick<ArtifactCache, 'use'>,
  { assertion, clientId, keys, audience, now }: Asserted,
): Promise<boolean> {
  const claims = {
    algorithms: [...ASSERTION_ALGORITHMS],
    issuer: clientId,
    subject: clientId,
    audience: [...audience],
    currentDate: now,
    requiredClaims: ['exp', 'jti'],
    clockTolerance: TOLERANCE_SECONDS,
  };
  for (const jwk of keys) {
    const said = await verified(assertion, verificationKey(jwk), claims);
    if (said === undefined) continue;
    const { jti = '', exp = 0 } = said;
    const leftSeconds = exp - Math.floor(now.getTime() / 1_000) + TOLERANCE_SECONDS;
    if (leftSeconds > LIFE_SECONDS_MAX) return false;
    const id = sha256(`${clientId}${jti}`).toString('base64url');
    return artifacts.use(USED, id, leftSeconds);
  }
  return false;
}

async function verified(assertion: string, jwk: object, claims: JWTVerifyOptions) {
  try {
    const key = createLocalJWKSet({ keys: [jwk as JWK] });
    return (await jwtVerify(assertion, key, claims)).payload;
  } catch {
    // The assertion has another key's signature, was changed, has expired, or has another audience.
    return undefined;
  }
}
