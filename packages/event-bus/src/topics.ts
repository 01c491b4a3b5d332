import { SERVICE_NAMES, TOPIC_PARTITIONS, topicOf } from '@cardea/contracts';
import { deadLetterTopicOf } from './consuming/dead-letter.ts';

/** Carries the signed tree heads of the audit log, and never forgets one. */
export const AUDIT_CHECKPOINTS_TOPIC = 'cardea.audit.checkpoints.v1';

/** Names of the services' consumers, each of which puts away what has no readable envelope. */
export const CONSUMERS: readonly string[] = ['authz', 'vault', 'approval', 'webhooks', 'audit'];

export type TopicPlan = {
  readonly topic: string;
  readonly partitions: number;
  /** Undefined: kept for ever. */
  readonly retentionDays: number | undefined;
};

export const RETENTION_DAYS = 7;

/** Every topic of the product. */
export const topicPlans = (consumers: readonly string[] = CONSUMERS): readonly TopicPlan[] => [
  ...SERVICE_NAMES.map(topicOf).map(forgetting),
  { ...forgetting(AUDIT_CHECKPOINTS_TOPIC), retentionDays: undefined },
  ...consumers.map(deadLetterTopicOf).map(forgetting),
];

/** As all topics but the tree heads are. */
export const forgetting = (topic: string): TopicPlan => ({
  topic,
  partitions: TOPIC_PARTITIONS,
  retentionDays: RETENTION_DAYS,
});
