export { base62 } from './base62.ts';
export {
  type CredentialKey,
  type IssuedKey,
  issueClientSecret,
  issueKey,
  issuePublishableKey,
  type KeyEnvironment,
  parseKey,
  printKey,
  secretHash,
} from './credentials/credential-keys.ts';
export {
  isGenuineRefreshToken,
  issueRefreshToken,
  parseRefreshToken,
  printRefreshToken,
  type RefreshToken,
} from './credentials/refresh-token.ts';
export { type ServiceLogin, serviceLogins } from './credentials/service-login.ts';
export { serviceSecrets } from './credentials/service-secrets.ts';
export { crockford, readCrockford } from './crockford.ts';
export {
  type DeploymentSecrets,
  type Derive,
  type DerivedKeys,
  deriveFrom,
  deriveKey,
  type WrapKey,
  type WrapKeys,
  wrapKeyOf,
  wrapKeys,
} from './derive.ts';
export { hmac, sameBytes, sha256, sha256Of } from './digest.ts';
export {
  decrypt,
  encrypt,
  type FieldBinding,
  headerOf,
  lengthPrefixed,
  Tampered,
} from './envelope.ts';
export { foreignKey, knownWrapKey, rewrap, UnknownWrapKey, type WrappedKey } from './rewrap.ts';
export type { FieldLocation, Sealed, Sealer, SubjectKeyRow, SubjectKeyTable } from './sealed.ts';
export { neverErased } from './sealed.ts';
export { openCookie, sealCookie } from './sealed-cookie.ts';
export {
  CACHED_KEY_MS,
  contextLocation,
  inMemorySubjectKeys,
  type SealerDependencies,
  sealer,
  subjectKeyLocation,
} from './sealer.ts';
export { typedCode } from './typed-code.ts';
