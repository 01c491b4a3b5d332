export { asyncApiText } from './asyncapi.ts';
export {
  type Documents,
  servedDocuments,
  subscriberDocuments,
  writeDocuments,
} from './documents.ts';
export { eventSchemas } from './event-schemas.ts';
export { exampleHeaders } from './example-record.ts';
export { jsonText } from './json-text.ts';
export {
  type PublishedEvent,
  type PublishedTopic,
  publishedTopics,
  schemaFile,
} from './published-events.ts';
export {
  bareSchema,
  isNullable,
  publishedSchema,
  type Schema,
  typesOf,
} from './published-schema.ts';
export { recordHeaders } from './record-headers.ts';
