/** The page for subscribers, which is committed. */
import { readFileSync } from 'node:fs';
import { publishedTopics } from '@cardea/documents';
import { eventsPage } from './markdown.ts';

export const EVENTS_PAGE = 'docs/events.md';

export const eventsPageText = (): string => eventsPage(publishedTopics());

export const productVersion = (): string =>
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
