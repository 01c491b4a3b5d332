export {
  CONSISTENCY_WAIT_MS,
  type PositionsPassed,
  printToken,
  readTokens,
} from './consistency.ts';
export type { Denial, Denials } from './denials.ts';
export type {
  Admit,
  Answer,
  Area,
  Caller,
  Contract,
  Endpoint,
  Request,
  TenantRule,
  Who,
} from './endpoint.ts';
export { asAgent, asUser, endpoint } from './endpoint.ts';
export { type HealthNeeds, healthEndpoints } from './health.ts';
export { PortTaken } from './listen.ts';
export { type Management, type ManagementNeeds, management } from './management.ts';
export { Overloaded } from './refusal.ts';
export { type HttpServer, type ServeOptions, type ServiceHttp, serve } from './serve.ts';
