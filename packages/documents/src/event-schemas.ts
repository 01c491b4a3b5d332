/** One JSON Schema file for each published event, and one for the headers of records. */
import { jsonText } from './json-text.ts';
import { type PublishedEvent, publishedTopics, schemaFile } from './published-events.ts';
import { withoutExamples } from './published-schema.ts';
import { recordHeaders } from './record-headers.ts';

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

export function eventSchemas(): ReadonlyMap<string, string> {
  const headers = { $schema: DIALECT, $id: 'urn:cardea:event:headers:1', ...recordHeaders };
  const events = publishedTopics().flatMap((topic) => topic.events);
  return new Map([
    ['headers.v1.json', jsonText(headers)],
    ...events.map((event): [string, string] => [schemaFile(event), jsonText(jsonSchema(event))]),
  ]);
}

const jsonSchema = ({ service, type, version, meaning, schema, example }: PublishedEvent) => ({
  $schema: DIALECT,
  $id: `urn:cardea:event:${service}:${type}:${version}`,
  title: type,
  description: meaning,
  ...withoutExamples(schema),
  examples: [example],
});
