export { type Acked, type AckedSet, ackedSet } from './acked-set.ts';
export { type ProcessToStart, type RigProcess, startProcess } from './child-process.ts';
export { ContractBroken } from './contract-check.ts';
export type { EndpointValue } from './endpoint-match.ts';
export {
  type EventStoreStandIn,
  type StandInFaults,
  startEventStoreStandIn,
} from './event-store-stand-in.ts';
export { countedIds, numberedId, seededRandom } from './fixed.ts';
export { freePort, freePorts } from './free-ports.ts';
export { given } from './given.ts';
export {
  KafkaNotStarted,
  type KafkaOptions,
  type KafkaServer,
  startKafka,
  whyNoKafka,
} from './kafka-server.ts';
export { postgresSetup } from './postgres-setup.ts';
export { type ProcessRig, processRig } from './process-rig.ts';
export {
  RedisNotStarted,
  type RedisOptions,
  type RedisServer,
  startRedis,
} from './redis-server.ts';
export { type Call, type RestAnswer, type RestDriver, restDriver } from './rest-driver.ts';
export type { RigTokens } from './rig-tokens.ts';
export {
  isRequired,
  type Missing,
  type ServerKind,
  type Started,
  serverSetup,
  takeVariable,
  withoutServer,
} from './run-server.ts';
export { type RigEvent, type RigOptions, type ServiceRig, serviceRig } from './service-rig.ts';
export { silentLogger } from './silent-logger.ts';
export { type TcpGate, tcpGate } from './tcp-gate.ts';
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
export { untilTrue } from './until-true.ts';
export { type Received, type SinkAnswer, type WebhookSink, webhookSink } from './webhook-sink.ts';
