export type {
  BusRecord,
  Consumer,
  Mapped,
  Publisher,
  RelayDefinition,
  RelayMapper,
  RunningConsumer,
  Subscriber,
} from './bus.ts';
export { type ConsumerCore, consumerCore } from './consuming/consumer-core.ts';
export type { AppliedOffsets } from './consuming/consumer-positions.ts';
export { type DeadLetter, type DeadLetters, deadLetterTopicOf } from './consuming/dead-letter.ts';
export {
  batchConsumer,
  consumer,
  type Heard,
  type Meanings,
  meanings,
} from './consuming/hearing.ts';
export type {
  ConsumerDependencies,
  KindOf,
  Looked,
  RawRecord,
  SkippedRecord,
} from './consuming/records.ts';
export { type KafkaAddress, type KafkaClient, kafkaClient } from './kafka/kafka-client.ts';
export { kafkaPublisher } from './kafka/publisher.ts';
export { type LyingRecord, readTopic } from './kafka/read-topic.ts';
export { CredentialsRefused } from './kafka/scram-credentials.ts';
export { type KafkaSubscriberDependencies, kafkaSubscriber } from './kafka/subscriber.ts';
export {
  checkTopics,
  createTopics,
  kafkaAnswers,
  remakeTopics,
  TopicsMisfit,
} from './kafka/topics.ts';
export { type KafkaUser, makeKafkaUsers } from './kafka/users.ts';
export { beginEpoch, type EpochConsumer } from './new-epoch.ts';
export { keyOf, partitionOf } from './partition.ts';
export { hasPassed, type LapsedPartition, type PartitionEnds } from './partition-ends.ts';
export { busMembers, type Members } from './postgres/members.ts';
export { type BusMigration, busMigrations } from './postgres/migrations.ts';
export { postgresPublisher } from './postgres/publisher.ts';
export { forgetOldRecords } from './postgres/retention.ts';
export { type PostgresSubscriberDependencies, postgresSubscriber } from './postgres/subscriber.ts';
export { topicTails } from './postgres/topic-tails.ts';
export { NotPublishable } from './relay/integration-events-of.ts';
export { relayPositionKey } from './relay/position-note.ts';
export { type RunningRelay, startRelay } from './relay/relay.ts';
export type { RelayDependencies, RelayedBatch } from './relay/relay-dependencies.ts';
export { type RelayHandlers, type RelayTools, relay } from './relay/relay-handlers.ts';
export { askForReplay, type Replay } from './relay/replay.ts';
export {
  AUDIT_CHECKPOINTS_TOPIC,
  forgetting,
  type TopicPlan,
  topicPlans,
} from './topics.ts';
