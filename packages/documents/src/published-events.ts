/** All published event types, each with its open schema and an example. */
import {
  EVENT_CATALOGUE,
  type IntegrationEventKind,
  type Json,
  SERVICE_NAMES,
  type ServiceName,
  topicOf,
} from '@cardea/contracts';
import { topicPlans } from '@cardea/event-bus';
import { exampleOf, publishedSchema, type Schema } from './published-schema.ts';

export type PublishedEvent = {
  readonly service: ServiceName;
  readonly type: string;
  readonly version: number;
  readonly meaning: string;
  readonly schema: Schema;
  readonly example: Json;
};

export type PublishedTopic = {
  readonly service: ServiceName;
  readonly topic: string;
  readonly partitions: number;
  readonly retentionDays: number;
  readonly events: readonly PublishedEvent[];
};

export const publishedTopics = (): readonly PublishedTopic[] =>
  SERVICE_NAMES.map((service) => {
    const kinds: readonly IntegrationEventKind[] = EVENT_CATALOGUE[service].kinds;
    return {
      service,
      ...planOf(service),
      events: kinds.map(publishedEvent),
    };
  });

function planOf(service: ServiceName) {
  const plan = topicPlans().find(({ topic }) => topic === topicOf(service));
  if (plan?.retentionDays === undefined) throw new Error(`${service} has no topic that forgets`);
  return { topic: plan.topic, partitions: plan.partitions, retentionDays: plan.retentionDays };
}

function publishedEvent(kind: IntegrationEventKind): PublishedEvent {
  const { source, type, version, meaning } = kind;
  const schema = publishedSchema(kind.schema);
  return { service: source, type, version, meaning, schema, example: exampleOf(schema, type) };
}

export const schemaFile = ({ service, type, version }: PublishedEvent): string =>
  `${service}/${type}.v${version}.json`;
