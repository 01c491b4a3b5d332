export type {
  AgentPrincipal,
  ApiKeyPrincipal,
  Authenticator,
  Capability,
  IntrospectedKey,
  Principal,
  RevocationKind,
  Revocations,
  UserPrincipal,
} from './principal.ts';
