export { type Acked, type AckedSet, ackedSet } from './acked-set.ts';
export {
  type FakeEventStore,
  type FakeFaults,
  startFakeEventStore,
} from './fakes/fake-event-store.ts';
export { type GeoRow, writeGeoDatabase } from './fakes/geo-database.ts';
export {
  type InMemoryLogs,
  inMemoryEventStore,
  inMemoryLogs,
} from './fakes/in-memory-event-store.ts';
export { type TcpProxy, tcpProxy } from './fakes/tcp-proxy.ts';
export {
  type Received,
  type SinkAnswer,
  type WebhookSink,
  webhookSink,
} from './fakes/webhook-sink.ts';
export { countedIds, numberedId, seededRandom } from './fixed.ts';
export { given } from './given.ts';
export { heardNotices } from './heard-notices.ts';
export { programOf } from './processes/bundled-program.ts';
export {
  type FixtureProcess,
  type ProcessToStart,
  startProcess,
} from './processes/child-process.ts';
export { childrenOf, descendantsOf, procText, threadsOf } from './processes/process-family.ts';
export { type ProcessFixture, processFixture } from './processes/process-fixture.ts';
export { SERVICE_FOLDERS } from './processes/service-folders.ts';
export { type ReferenceSet, type ReferenceTuple, referenceSet } from './reference-tuples.ts';
export { ContractBroken } from './rest/contract-check.ts';
export type { EndpointValue } from './rest/endpoint-match.ts';
export type { FixtureTokens } from './rest/fixture-tokens.ts';
export { publishedBy } from './rest/published-events.ts';
export { type Call, type RestAnswer, type RestDriver, restDriver } from './rest/rest-driver.ts';
export {
  type FixtureEvent,
  type FixtureOptions,
  type ServiceFixture,
  serviceFixture,
} from './rest/service-fixture.ts';
export { freePort, freePorts } from './servers/free-ports.ts';
export {
  KafkaNotStarted,
  type KafkaOptions,
  type KafkaServer,
  startKafka,
  whyNoKafka,
} from './servers/kafka-server.ts';
export { postgresSetup } from './servers/postgres-setup.ts';
export { redisSays } from './servers/redis-says.ts';
export {
  RedisNotStarted,
  type RedisOptions,
  type RedisServer,
  startRedis,
} from './servers/redis-server.ts';
export {
  isRequired,
  type Missing,
  type ServerKind,
  type Started,
  serverSetup,
  takeVariable,
  withoutServer,
} from './servers/run-server.ts';
export { type Instance, temporaryInstance } from './servers/temporary-instance.ts';
export { type TestDatabase, testDatabase } from './servers/test-database.ts';
export {
  handDownKafka,
  type KafkaOfRun,
  kafkaSetup,
  needKafka,
  startKafkaOfRun,
  type TestKafka,
  testKafka,
} from './servers/test-kafka.ts';
export {
  handDown,
  type MigrateTemplate,
  type PostgresOfRun,
  startPostgresOfRun,
} from './servers/test-postgres.ts';
export {
  handDownRedis,
  needRedis,
  type RedisOfRun,
  redisSetup,
  startRedisOfRun,
  type TestRedis,
  testRedis,
} from './servers/test-redis.ts';
export { silentLogger } from './silent-logger.ts';
export { testAlarm } from './test-alarm.ts';
export { type TestForm, testForm } from './test-form.ts';
export { mannWhitney, medianOf } from './two-samples.ts';
export { endsOfTables, type TopicEnds, untilLevel, untilRead } from './until-level.ts';
export { untilTrue } from './until-true.ts';
