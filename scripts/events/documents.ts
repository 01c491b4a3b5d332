/** Every generated document of `docs/` that subscribers read, by path. */
import { readFileSync } from 'node:fs';
import { asyncApiText } from './asyncapi.ts';
import { jsonText } from './json-text.ts';
import { eventsPage } from './markdown.ts';
import { type PublishedEvent, publishedTopics, schemaFile } from './published-events.ts';
import { withoutExamples } from './published-schema.ts';
import { recordHeaders } from './record-headers.ts';

export const SCHEMA_FOLDER = 'docs/schemas';

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

export function eventDocuments(): ReadonlyMap<string, string> {
  const topics = publishedTopics();
  const headers = { $schema: DIALECT, $id: 'urn:cardea:event:headers:1', ...recordHeaders };
  const schemas = topics
    .flatMap(({ events }) => events)
    .map((event): [string, string] => [
      `${SCHEMA_FOLDER}/${schemaFile(event)}`,
      jsonText(jsonSchema(event)),
    ]);
  return new Map([
    ['docs/events.md', eventsPage(topics)],
    ['docs/asyncapi.yaml', asyncApiText(topics, productVersion())],
    [`${SCHEMA_FOLDER}/headers.v1.json`, jsonText(headers)],
    ...schemas,
  ]);
}

export const productVersion = (): string =>
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;

const jsonSchema = ({ service, type, version, meaning, schema, example }: PublishedEvent) => ({
  $schema: DIALECT,
  $id: `urn:cardea:event:${service}:${type}:${version}`,
  title: type,
  description: meaning,
  ...withoutExamples(schema),
  examples: [example],
});
