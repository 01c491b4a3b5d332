export { type AuthenticatorDependencies, authenticator } from './authenticator.ts';
export {
  authorityKey,
  CHANGED_TTL_MS,
  CHANGES_FLOOR,
  changedKey,
  type FactChange,
  type FactKind,
} from './fact-changes.ts';
export type { JwkSet } from './key-set.ts';
export type {
  AgentPrincipal,
  ApiKeyPrincipal,
  Authenticator,
  Capability,
  Ended,
  IntrospectedKey,
  KeyMisses,
  Looked,
  Principal,
  RefillRevocations,
  Revocation,
  RevocationKind,
  Revocations,
  TooManyMisses,
  UserPrincipal,
} from './principal.ts';
export { capabilityOf, principalOf } from './principal-of.ts';
export {
  type MirroredRevocations,
  type RevocationsDependencies,
  revocations,
} from './revocations.ts';
export { type SigningKeys, type SignToken, signer } from './signer.ts';
export {
  exportPrivateKey,
  generateSigningKey,
  importPrivateKey,
  importPublicJwk,
  type PublicJwk,
  publicJwk,
  type SigningKey,
} from './signing-key.ts';
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
} from './token-claims.ts';
export {
  type Accepted,
  dropOnKeysChanged,
  KEYS_CHANGED,
  revocationsOf,
  type TokenVerifier,
  type TokenVerifierDependencies,
  tokenVerifier,
} from './token-verifier.ts';
export {
  CLOCK_TOLERANCE_S,
  type Verified,
  type VerifyDependencies,
  verifyToken,
} from './verify-token.ts';
