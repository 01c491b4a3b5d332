/** The documents of a release, which the gateway serves as well: files by name. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { documentation, type Endpoint, openApi } from '@cardea/http';
import { asyncApi, asyncApiText } from './asyncapi.ts';
import { eventSchemas } from './event-schemas.ts';
import { publishedTopics } from './published-events.ts';

export type Product = {
  readonly endpoints: readonly Endpoint[];
  readonly version: string;
};
export type Documents = ReadonlyMap<string, string>;

/** The documents that the gateway serves itself, except the bundle of the documentation page. */
export const servedDocuments = ({ endpoints, version }: Product): Documents =>
  new Map([
    // Clients resolve the server's URL against the URL of the document.
    ['openapi.json', json(openApi({ endpoints, version, publicUrl: '/' }))],
    ['asyncapi.json', json(asyncApi(publishedTopics(), version))],
    ['favicon.svg', documentation.icon],
    ['docs.html', documentation.page],
    ['start.js', documentation.start],
  ]);

/** The documents for subscribers of the topics. */
export const subscriberDocuments = (version: string): Documents =>
  new Map([
    ['asyncapi.yaml', asyncApiText(publishedTopics(), version)],
    ...[...eventSchemas()].map(([file, text]): [string, string] => [`schemas/${file}`, text]),
  ]);

export function writeDocuments(folder: string, documents: Documents): void {
  for (const [name, text] of documents) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

const json = (document: object): string => `${JSON.stringify(document, null, 2)}\n`;
