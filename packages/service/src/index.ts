export { ORIGINS_CHANGED } from './allowed-origins.ts';
export { actorOf, appOf } from './command.ts';
export {
  forgetTenant,
  forgottenTenants,
  noteForgottenTenant,
  type TenantForgotten,
  tenantRowsDeleted,
} from './forgotten-tenants.ts';
export { relayOf } from './host/background-work.ts';
export { type Host, startHost } from './host/host.ts';
export { type Given, type Infrastructure, infrastructure } from './host/infrastructure.ts';
export { type ListedEndpoints, listEndpoints } from './host/list-endpoints.ts';
export { migrateServices, migrationSetsOf, NotMigrated } from './host/migrations.ts';
export { buildParts, type HostOptions, type Part } from './host/parts.ts';
export { runService, type ServiceProcess } from './host/run-service.ts';
export {
  alreadyCreated,
  newId,
  repeatAnswer,
  requestHash,
  reusedKey,
} from './idempotent-create.ts';
export { type AgentCopy, agentCopies, userCopies } from './identity-facts/copies.ts';
export { type FactCopies, factCopies, type UserFacts } from './identity-facts/fact-copies.ts';
export { ownSecrets } from './keys/own-secrets.ts';
export {
  type CountedKeys,
  countedKeys,
  refuseForeignKeys,
  rewrapKeys,
} from './keys/wrapped-keys.ts';
export { exportLimit } from './limits/export-limit.ts';
export {
  ACCOUNT_BLOCKS_MS,
  ACCOUNT_WINDOW_MS,
  type AccountRecord,
  accountFailuresMax,
  accountLevel,
  type Guessed,
  isAccountBlocked,
  missedAt,
  noFailures,
  openedAt,
} from './limits/growing-blocks.ts';
export {
  type Allowed,
  type Charge,
  type RateLimit,
  type RateLimits,
  type Refused,
  rateLimits,
  type Taken,
} from './limits/rate-limits.ts';
export { type RefusalsPerMinute, refusalsPerMinute } from './limits/refusals-per-minute.ts';
export { answerExport, sendExport } from './limits/send-export.ts';
export { type Sweep, sweeping } from './limits/sweeping.ts';
export { CACHE_FAMILIES, type CacheFamily } from './logins/cache-families.ts';
export {
  cacheUsersFile,
  loginSettingsOf,
  makeLogins,
  ownEnvironment,
} from './logins/service-logins.ts';
export { type Module, serviceOf } from './module.ts';
export { decideOnRows, pagesOf } from './paged-decisions.ts';
export { internalBearers } from './peers/internal-bearer.ts';
export { PeerUnavailable, UnexpectedAnswer } from './peers/peer-unavailable.ts';
export type { Offers, Peers } from './peers/peers.ts';
export { type HolderStatus, NOBODY, type SetHolders, setHolders } from './peers/set-holders.ts';
export { type Policy, policy } from './policy.ts';
export type { Loop, Service, ServiceDefinition, ServiceDependencies } from './service.ts';
