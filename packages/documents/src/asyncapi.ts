/** The AsyncAPI 3.0 document of all topics: complete, without references to other files. */
import type { Json } from '@cardea/contracts';
import { stringify } from 'yaml';
import { exampleHeaders } from './example-record.ts';
import { type PublishedEvent, type PublishedTopic, schemaFile } from './published-events.ts';
import { type Schema, withoutExamples } from './published-schema.ts';
import { recordHeaders } from './record-headers.ts';

const DAY_MS = 86_400_000;
const KAFKA_BINDING = '0.5.0';
const NOTICE = '# Made by `npm run events` from packages/contracts; edit those.\n';

export function asyncApiText(topics: readonly PublishedTopic[], version: string): string {
  const document = asyncApi(topics, version);
  return NOTICE + stringify(document, { lineWidth: 0, aliasDuplicateObjects: false });
}

export const asyncApi = (topics: readonly PublishedTopic[], version: string) => {
  const events = topics.flatMap((topic) => topic.events);
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Cardea events',
      version,
      description:
        'What the services of Cardea publish. At least once, in order per key; docs/events.md says how to read it.',
      license: { name: 'Apache-2.0' },
    },
    defaultContentType: 'application/json',
    servers: {
      kafka: {
        host: '{brokers}',
        protocol: 'kafka',
        description: 'The brokers of the deployment: setting KAFKA_BROKERS.',
        variables: { brokers: { default: 'localhost:9092', description: 'host:port' } },
      },
    },
    channels: Object.fromEntries(topics.map((topic) => [topic.service, channel(topic)])),
    operations: Object.fromEntries(
      topics.map(({ service }) => [
        `${service}Publishes`,
        { action: 'send', channel: { $ref: `#/channels/${service}` } },
      ]),
    ),
    components: {
      messages: Object.fromEntries(events.map((event) => [nameOf(event), message(event)])),
      messageTraits: { record },
      schemas: { context: contextOf(events), headers: recordHeaders },
    },
  };
};

const nameOf = ({ service, type, version }: PublishedEvent) => `${service}.${type}.v${version}`;

const channel = ({ service, topic, partitions, retentionDays, events }: PublishedTopic) => ({
  address: topic,
  title: service,
  messages: Object.fromEntries(
    events.map((event) => [
      `${event.type}.v${event.version}`,
      { $ref: `#/components/messages/${nameOf(event)}` },
    ]),
  ),
  bindings: {
    kafka: {
      topic,
      partitions,
      topicConfiguration: {
        'cleanup.policy': ['delete'],
        'retention.ms': retentionDays * DAY_MS,
      },
      bindingVersion: KAFKA_BINDING,
    },
  },
});

/** The parts that all records share. */
const record = {
  headers: { $ref: '#/components/schemas/headers' },
  contentType: 'application/json',
  bindings: {
    kafka: {
      key: {
        type: 'string',
        description: '`ce_tenantid:ce_subject`: records of one key keep their order.',
      },
      bindingVersion: KAFKA_BINDING,
    },
  },
};

const message = (event: PublishedEvent) => ({
  name: event.type,
  title: event.type,
  summary: event.meaning,
  'x-json-schema': `schemas/${schemaFile(event)}`,
  traits: [{ $ref: '#/components/messageTraits/record' }],
  payload: withSharedContext(withoutExamples(event.schema)),
  examples: [
    { headers: exampleHeaders(event), payload: event.example as { [name: string]: Json } },
  ],
});

const withSharedContext = (schema: Schema): Schema => ({
  ...schema,
  properties: { ...schema.properties, context: { $ref: '#/components/schemas/context' } },
});

function contextOf([event]: readonly PublishedEvent[]): Schema {
  const context = event?.schema.properties?.['context'];
  if (context === undefined) throw new Error('events without a context');
  return withoutExamples(context);
}
