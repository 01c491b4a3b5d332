export { computedOnce } from './cache/computed-once.ts';
export {
  type ExpiringCache,
  expiringCache,
  type LoadingCache,
  loadingCache,
} from './cache/expiring-cache.ts';
export { inProcessCache } from './cache/in-process-cache.ts';
export { type LimitCounters, limitCounters, sharedTokenBucket } from './cache/limit-counters.ts';
export { CACHE_PROBE, type RedisCacheOptions, redisCache } from './cache/redis-cache.ts';
export { writeOrDistrust } from './cache/write-or-distrust.ts';
export { type FakeClock, fakeClock, systemClock } from './clock.ts';
export {
  armFailPoints,
  type FailPoint,
  FailPointReached,
  failpoint,
  parseFailPoints,
} from './failpoint.ts';
export { GEOIP_CHECK_MS, type GeoIp, type GeoLocation, geoIp } from './geo-ip.ts';
export { isUuid, storedId, systemRandom, uuidFrom, uuidV5, uuidV7Ids } from './ids.ts';
export type { Lease, Leases } from './leases.ts';
export {
  FairQueue,
  type FairQueueForm,
  FairShares,
  type GiveBack,
  SharedUse,
} from './loops/fair-shares.ts';
export { inTurns } from './loops/in-turns.ts';
export { loops, sharedRestMs } from './loops/loops.ts';
export { onceAvailable } from './loops/once-available.ts';
export {
  expectNoTransaction,
  NestedConnection,
  outsideTransactions,
  throwOnNestedConnections,
  transactionTag,
} from './loops/open-transaction.ts';
export { type Pacing, pacing } from './loops/pacing.ts';
export { type Shutdown, type ShutdownDependencies, shutdown } from './loops/shutdown.ts';
export { type WakeSignal, wakeSignal } from './loops/wake-signal.ts';
export { codeOf, errorCode, isConnectionLost, Outage } from './outage.ts';
export type {
  Cache,
  CacheAlarm,
  Clock,
  Gap,
  Ids,
  Logger,
  Loops,
  LoopWatch,
  Random,
  TokenBucket,
} from './ports.ts';
export { CacheRefusesWrites, CacheUnavailable } from './ports.ts';
export { cleaned, cut, isClean, isHonestName, visible } from './sanitize-text.ts';
export {
  FORBIDDEN_SCHEMES,
  isBrowserOrigin,
  type OriginRule,
  originRule,
} from './settings/browser-origin.ts';
export { isCommonPassword } from './settings/common-passwords.ts';
export {
  hostInUrl,
  isLoopback,
  isLoopbackHost,
  loopbackBeside,
  reachableHost,
  withoutBrackets,
} from './settings/loopback.ts';
export { type PlaintextServer, plaintextServers, warnOfPlaintext } from './settings/plaintext.ts';
export {
  formatFaults,
  type ReadOptions,
  type ReadSettings,
  readSettings,
  SETTING_FORMS,
  takeSettings,
} from './settings/read-settings.ts';
export { refuseBadSettings } from './settings/refuse-bad-settings.ts';
export { type Secret, secret } from './settings/secret.ts';
export type { Environment, SettingFault, Settings } from './settings/settings.ts';
export { hookImports } from './telemetry/driver-spans.ts';
export { type LoggerOptions, type LogLevel, logger, type RootLogger } from './telemetry/logger.ts';
export { measureProcess, metrics } from './telemetry/metrics.ts';
export { type PublicError, publicError } from './telemetry/public-error.ts';
export { SeriesHistogram } from './telemetry/series-histogram.ts';
export { sqlConditionOf } from './telemetry/sql-conditions.ts';
export {
  currentTraceparent,
  type RequestSpan,
  requestSpan,
  type SpanAttributes,
  type SpanOptions,
  span,
  startTelemetry,
} from './telemetry/telemetry.ts';
