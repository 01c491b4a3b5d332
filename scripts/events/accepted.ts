/** The events that the last release promised its subscribers, stored in the repository. */
import { readFileSync } from 'node:fs';
import { bareSchema, type PublishedTopic, publishedTopics, recordHeaders } from '@cardea/documents';
import type { Accepted } from './schema-breaks.ts';

export const ACCEPTED_FILE = new URL('./accepted.json', import.meta.url);

export type AcceptedState = {
  /** Version of the release that promised it. */
  readonly release: string;
  readonly schemas: Accepted;
};

export const acceptedState = (): AcceptedState => JSON.parse(readFileSync(ACCEPTED_FILE, 'utf8'));

/** The events that the current code promises. */
export const promised = (topics: readonly PublishedTopic[] = publishedTopics()): Accepted => ({
  headers: bareSchema(recordHeaders),
  ...Object.fromEntries(
    topics.flatMap(({ topic, partitions, events }) => [
      // Keys keep their partition, which the order of records depends on.
      [topic, { partitions }],
      ...events.map(({ service, type, version, schema }) => [
        `${service}/${type}@${version}`,
        bareSchema(schema),
      ]),
    ]),
  ),
});
