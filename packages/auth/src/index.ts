export { type AuthenticatorDependencies, authenticator } from './authenticator.ts';
export {
  authorityKey,
  CHANGED_TTL_MS,
  CHANGES_FLOOR,
  CHANGES_FLOOR_TTL_MS,
  changedKey,
  type FactChange,
  type FactKind,
} from './fact-changes.ts';
export type {
  AgentPrincipal,
  ApiKeyPrincipal,
  Authentication,
  Authenticator,
  Capability,
  ClientPrincipal,
  Ended,
  IntrospectedKey,
  KeyMisses,
  Looked,
  PossessionProof,
  Principal,
  RefillRevocations,
  Revocation,
  RevocationKind,
  Revocations,
  TooManyMisses,
  Unproven,
  UserPrincipal,
} from './principal.ts';
export { boundKeyOf, capabilityOf, isOfMachine, principalOf } from './principal-of.ts';
export {
  type MirroredRevocations,
  type RevocationsDependencies,
  revocations,
} from './revocations/revocations.ts';
export {
  DPOP_ALGORITHMS,
  DPOP_PROOF_MAX_BYTES,
  type DpopProofDependencies,
  type DpopProofs,
  dpopProofs,
  type ReadProof,
} from './tokens/dpop-proof.ts';
export { jwkThumbprint } from './tokens/jwk-thumbprint.ts';
export type { JwkSet } from './tokens/key-set.ts';
export { type SigningKeys, type SignToken, signer } from './tokens/signer.ts';
export {
  exportPrivateKey,
  generateSigningKey,
  importPublicJwk,
  type PublicJwk,
  publicJwk,
  type SigningKey,
} from './tokens/signing-key.ts';
export {
  type AgentClaims,
  type CapabilityClaims,
  type CommonClaims,
  type ImpersonationClaims,
  type LoginClaims,
  type OAuthClaims,
  TOKEN_CLASSES,
  type TokenClass,
  type VerifiedClaims,
} from './tokens/token-claims.ts';
export {
  type Accepted,
  dropOnKeysChanged,
  KEYS_CHANGED,
  revocationsOf,
  type TokenVerifier,
  type TokenVerifierDependencies,
  tokenVerifier,
} from './tokens/token-verifier.ts';
export {
  CLOCK_TOLERANCE_S,
  type Verified,
  type VerifyDependencies,
  verifyToken,
} from './tokens/verify-token.ts';
