export { isForm } from './body.ts';
export type { ApplicationScope, Caller, Who } from './caller.ts';
export { type CatalogueEntry, catalogue } from './catalogue.ts';
export { addressLimitKeys, networkOf } from './client-network.ts';
export {
  CONSISTENCY_WAIT_MS,
  printToken,
} from './consistency.ts';
export type { AllowedOrigins } from './cross-origin.ts';
export type { Denial, Denials } from './denials.ts';
export { documentation, documentEndpoints } from './document-endpoints.ts';
export type {
  Answer,
  Area,
  Authorize,
  Contract,
  Endpoint,
  Request,
  TenantRule,
} from './endpoint.ts';
export { endpoint, endpointReadingAhead } from './endpoint.ts';
export { type HealthDependencies, healthEndpoints } from './health.ts';
export type { Identify } from './idempotency.ts';
export { canonicalJson, readJson } from './json.ts';
export { PortTaken } from './listen.ts';
export { type Management, type ManagementDependencies, management } from './management.ts';
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
export { messageOf, Overloaded, refusalOfThrow } from './refusal.ts';
export {
  type HttpServer,
  type Internal,
  type ServeOptions,
  type ServiceHttp,
  serve,
} from './serve.ts';
export { answerValidator } from './validation.ts';
