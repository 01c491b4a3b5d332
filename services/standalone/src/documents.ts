/**
 * Writes the documents that are generated from the contracts: `node src/documents.ts <folder>`. The build of the
 * gateway's image and releases use it.
 */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { servedDocuments, subscriberDocuments, writeDocuments } from '@cardea/documents';
import { documentation } from '@cardea/http';
import packageJson from '../package.json' with { type: 'json' };
import { allEndpoints } from './all-endpoints.ts';

const USAGE_EXIT = 2;

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  process.stderr.write('node src/documents.ts <folder>\n');
  process.exit(USAGE_EXIT);
}
const { version } = packageJson;
const { common, services } = await allEndpoints(version);
const endpoints = [...common, ...services.flatMap((each) => each.endpoints)];
writeDocuments(folder, servedDocuments({ endpoints, version }));
writeDocuments(folder, subscriberDocuments(version));
copyFileSync(documentation.bundlePath(), join(folder, 'reference.js'));
