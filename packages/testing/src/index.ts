export { type Acked, type AckedSet, ackedSet } from './acked-set.ts';
export { type FixtureProcess, type ProcessToStart, startProcess } from './child-process.ts';
export { ContractBroken } from './contract-check.ts';
export type { EndpointValue } from './endpoint-match.ts';
export {
  type FakeEventStore,
  type FakeFaults,
  startFakeEventStore,
} from './fake-event-store.ts';
export { countedIds, numberedId, seededRandom } from './fixed.ts';
export type { FixtureTokens } from './fixture-tokens.ts';
export { freePort, freePorts } from './free-ports.ts';
export { type GeoRow, writeGeoDatabase } from './geo-database.ts';
export { given } from './given.ts';
export { heardNotices } from './heard-notices.ts';
export {
  type InMemoryLogs,
  inMemoryEventStore,
  inMemoryLogs,
} from './in-memory-event-store.ts';
export {
  KafkaNotStarted,
  type KafkaOptions,
  type KafkaServer,
  startKafka,
  whyNoKafka,
} from './kafka-server.ts';
export { postgresSetup } from './postgres-setup.ts';
export { childrenOf, descendantsOf, procText, threadsOf } from './process-family.ts';
export { type ProcessFixture, processFixture } from './process-fixture.ts';
export { redisSays } from './redis-says.ts';
export {
  RedisNotStarted,
  type RedisOptions,
  type RedisServer,
  startRedis,
} from './redis-server.ts';
export { type ReferenceSet, type ReferenceTuple, referenceSet } from './reference-tuples.ts';
export { type Call, type RestAnswer, type RestDriver, restDriver } from './rest-driver.ts';
export {
  isRequired,
  type Missing,
  type ServerKind,
  type Started,
  serverSetup,
  takeVariable,
  withoutServer,
} from './run-server.ts';
export {
  type FixtureEvent,
  type FixtureOptions,
  type ServiceFixture,
  serviceFixture,
} from './service-fixture.ts';
export { silentLogger } from './silent-logger.ts';
export { type TcpProxy, tcpProxy } from './tcp-proxy.ts';
export { type Instance, temporaryInstance } from './temporary-instance.ts';
export { type TestDatabase, testDatabase } from './test-database.ts';
export { type TestForm, testForm } from './test-form.ts';
export {
  handDownKafka,
  type KafkaOfRun,
  kafkaSetup,
  needKafka,
  startKafkaOfRun,
  type TestKafka,
  testKafka,
} from './test-kafka.ts';
export {
  handDown,
  type MigrateTemplate,
  type PostgresOfRun,
  startPostgresOfRun,
} from './test-postgres.ts';
export {
  handDownRedis,
  needRedis,
  type RedisOfRun,
  redisSetup,
  startRedisOfRun,
  type TestRedis,
  testRedis,
} from './test-redis.ts';
export { mannWhitney, medianOf } from './two-samples.ts';
export { endsOfTables, type TopicEnds, untilLevel } from './until-level.ts';
export { untilTrue } from './until-true.ts';
export { type Received, type SinkAnswer, type WebhookSink, webhookSink } from './webhook-sink.ts';
