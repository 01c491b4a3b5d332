export { isBrowserOrigin } from './browser-origin.ts';
export { type FakeClock, fakeClock, systemClock } from './clock.ts';
export { isCommonPassword } from './common-passwords.ts';
export { hookImports } from './driver-spans.ts';
export {
  type ExpiringCache,
  expiringCache,
  type LoadingCache,
  loadingCache,
} from './expiring-cache.ts';
export {
  armFailPoints,
  type FailPoint,
  FailPointReached,
  failpoint,
  parseFailPoints,
} from './failpoint.ts';
export { GEOIP_CHECK_MS, type GeoIp, type GeoLocation, geoIp } from './geo-ip.ts';
export { systemRandom, uuidFrom, uuidV5, uuidV7Ids } from './ids.ts';
export { inProcessCache } from './in-process-cache.ts';
export { type LimitCounters, limitCounters, sharedTokenBucket } from './limit-counters.ts';
export { type LoggerOptions, type LogLevel, logger, type RootLogger } from './logger.ts';
export { isLoopback, isLoopbackHost } from './loopback.ts';
export { loops } from './loops.ts';
export { measureProcess, metrics } from './metrics.ts';
export { onceAvailable } from './once-available.ts';
export {
  expectNoTransaction,
  NestedConnection,
  outsideTransactions,
  throwOnNestedConnections,
  transactionTag,
} from './open-transaction.ts';
export { Outage } from './outage.ts';
export { type Pacing, pacing } from './pacing.ts';
export { type PlaintextServer, plaintextServers, warnOfPlaintext } from './plaintext.ts';
export type {
  Cache,
  Clock,
  Gap,
  Ids,
  Logger,
  Loops,
  LoopWatch,
  Random,
  TokenBucket,
} from './ports.ts';
export { CacheUnavailable } from './ports.ts';
export { type PublicError, publicError } from './public-error.ts';
export {
  formatFaults,
  type ReadOptions,
  type ReadSettings,
  readSettings,
  SETTING_FORMS,
  takeSettings,
} from './read-settings.ts';
export { type RedisCacheOptions, redisCache } from './redis-cache.ts';
export { refuseBadSettings } from './refuse-bad-settings.ts';
export { type Secret, secret } from './secret.ts';
export { SeriesHistogram } from './series-histogram.ts';
export type { Environment, SettingFault, Settings } from './settings.ts';
export { sharedRestMs } from './shared-rest.ts';
export { type Shutdown, type ShutdownDependencies, shutdown } from './shutdown.ts';
export {
  currentTraceparent,
  type RequestSpan,
  requestSpan,
  type SpanAttributes,
  type SpanOptions,
  span,
  startTelemetry,
} from './telemetry.ts';
export { type WakeSignal, wakeSignal } from './wake-signal.ts';
