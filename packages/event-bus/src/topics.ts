import { SERVICE_NAMES, TOPIC_PARTITIONS, topicOf } from '@cardea/contracts';
import { deadLetterTopicOf } from './consuming/dead-letter.ts';

/** Contains the signed tree heads of the audit log, which are never deleted. */
export const AUDIT_CHECKPOINTS_TOPIC = 'cardea.audit.checkpoints.v1';

export type TopicPlan = {
  readonly topic: string;
  readonly partitions: number;
  /** Undefined means kept forever. */
  readonly retentionDays: number | undefined;
};

export const RETENTION_DAYS = 7;

/** Every topic of the product. Each service has a consumer of its name, with a topic for dead letters. */
export const topicPlans = (consumers: readonly string[] = SERVICE_NAMES): readonly TopicPlan[] => [
  ...SERVICE_NAMES.map(topicOf).map(forgetting),
  { ...forgetting(AUDIT_CHECKPOINTS_TOPIC), retentionDays: undefined },
  ...consumers.map(deadLetterTopicOf).map(forgetting),
];

/** A topic with the usual retention. Only the topic of the tree heads has another one. */
export const forgetting = (topic: string): TopicPlan => ({
  topic,
  partitions: TOPIC_PARTITIONS,
  retentionDays: RETENTION_DAYS,
});
