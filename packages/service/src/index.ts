export { ORIGINS_CHANGED } from './allowed-origins.ts';
export { relayOf } from './background-work.ts';
export { actorOf, appOf } from './command.ts';
export { type FactCopies, factCopies, type UserFacts } from './fact-copies.ts';
export {
  forgetTenant,
  forgottenTenants,
  noteForgottenTenant,
  type TenantForgotten,
  tenantRowsDeleted,
} from './forgotten-tenants.ts';
export { type Host, startHost } from './host.ts';
export {
  alreadyCreated,
  newId,
  repeatAnswer,
  requestHash,
  reusedKey,
} from './idempotent-create.ts';
export { type Given, type Infrastructure, infrastructure } from './infrastructure.ts';
export { internalBearers } from './internal-bearer.ts';
export { type ListedEndpoints, listEndpoints } from './list-endpoints.ts';
export {
  cacheUsersFile,
  loginSettingsOf,
  makeLogins,
  ownEnvironment,
} from './logins/service-logins.ts';
export { migrateServices, migrationSetsOf, NotMigrated } from './migrations.ts';
export { type Module, serviceOf } from './module.ts';
export { ownSecrets } from './own-secrets.ts';
export { decideOnRows, pagesOf } from './paged-decisions.ts';
export { buildParts, type HostOptions, type Part } from './parts.ts';
export { PeerUnavailable, UnexpectedAnswer } from './peer-unavailable.ts';
export type { Offers, Peers } from './peers.ts';
export { type Policy, policy } from './policy.ts';
export { type RateLimit, type RateLimits, rateLimits, type Taken } from './rate-limits.ts';
export { type RefusalsPerMinute, refusalsPerMinute } from './refusals-per-minute.ts';
export { runService, type ServiceProcess } from './run-service.ts';
export type { Loop, Service, ServiceDefinition, ServiceDependencies } from './service.ts';
export { type Sweep, sweeping } from './sweeping.ts';
export { type CountedKeys, countedKeys, refuseForeignKeys, rewrapKeys } from './wrapped-keys.ts';
