export { addressLimitKeys, networkOf } from './context/client-network.ts';
export type { AllowedOrigins } from './context/headers.ts';
export { endTogether } from './context/write-answer.ts';
export {
  type ApplicationScope,
  applicationScopeOf,
  type Caller,
  type MachineRule,
  machineScopeOf,
  stepUpOf,
  type Who,
} from './contract/caller.ts';
export { type Contract, isInternal, type TenantRule, takesKey } from './contract/contract.ts';
export type {
  Answer,
  Authorize,
  Endpoint,
  EndpointOf,
  EndpointShape,
  Played,
  PlayedOutcome,
  Plays,
  Request,
} from './contract/endpoint.ts';
export { endpoint, pageEndpoint } from './contract/endpoint.ts';
export { documentation, documentEndpoints } from './documents/document-endpoints.ts';
export { isForm } from './input/body.ts';
export type { Identify } from './input/idempotency.ts';
export { canonicalJson, readJson } from './input/json.ts';
export { answerValidator } from './input/validation.ts';
export { type CatalogueEntry, catalogue } from './openapi/catalogue.ts';
export { type DocumentOf, openApi } from './openapi/openapi.ts';
export {
  type AddressGuard,
  addressGuard,
} from './outbound/address-guard.ts';
export {
  ConnectFailed,
  type ConnectFault,
  type Dial,
  type Dialer,
  type NameResolver,
} from './outbound/guarded-connector.ts';
export {
  excerptOf,
  type Outbound,
  type OutboundAnswer,
  type OutboundDependencies,
  type OutboundError,
  type OutboundRequest,
  outbound,
} from './outbound/outbound.ts';
export {
  type UrlPolicy,
  type UrlRule,
  type UrlVerdict,
  validateUrl,
} from './outbound/target-url.ts';
export type { Area, OwnDenial } from './own-denial.ts';
export { AUTH_AGE_SECONDS_MAX, possessionChallenge, stepUpHeaders } from './pipeline/authorize.ts';
export {
  CONSISTENCY_WAIT_MS,
  printToken,
} from './pipeline/consistency.ts';
export { type Denial, type Denials, isRecorded } from './refusals/denials.ts';
export { type Fault, messageOf, Overloaded, refusalOfThrow } from './refusals/refusal.ts';
export { type RefusedWrites, refusedWrites } from './refusals/refused-writes.ts';
export { type HealthDependencies, healthEndpoints } from './server/health.ts';
export { PortTaken } from './server/listen.ts';
export { type Management, type ManagementDependencies, management } from './server/management.ts';
export {
  type HttpServer,
  type Internal,
  type ServeOptions,
  type ServiceHttp,
  serve,
} from './server/serve.ts';
