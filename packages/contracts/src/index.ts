export type {
  ActorType,
  EventContext,
  IntegrationEvent,
  Json,
  JsonObject,
  ServiceName,
} from './envelope.ts';
export { SERVICE_NAMES, TOPIC_PARTITIONS, topicOf } from './envelope.ts';
