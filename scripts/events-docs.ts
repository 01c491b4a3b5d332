/**
 * `npm run events`: writes what subscribers read (`docs/events.md`, `docs/asyncapi.yaml`, `docs/schemas/`)
 * from the contracts.
 *
 *   npm run events               writes
 *   npm run events -- --accept   at a release: from now on the schemas as they stand are what must not break
 */
import { globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { accept } from './accepting.ts';
import { ACCEPTED_FILE, type AcceptedState, acceptedState, promised } from './events/accepted.ts';
import { eventDocuments, productVersion, SCHEMA_FOLDER } from './events/documents.ts';
import { schemaBreaks } from './events/schema-breaks.ts';

const root = resolve(import.meta.dirname, '..');
const { values } = parseArgs({ options: { accept: { type: 'boolean', default: false } } });

write();
process.exitCode = values.accept ? acceptSchemas() : 0;

function write(): void {
  const documents = eventDocuments();
  for (const file of globSync(`${SCHEMA_FOLDER}/**/*.json`, { cwd: root })) {
    if (!documents.has(file)) rmSync(resolve(root, file));
  }
  for (const [file, text] of documents) {
    mkdirSync(dirname(resolve(root, file)), { recursive: true });
    writeFileSync(resolve(root, file), text);
  }
  console.log(`${documents.size} documents written.`);
}

function acceptSchemas(): number {
  const schemas = promised();
  const state: AcceptedState = { release: productVersion(), schemas };
  const breaks = schemaBreaks(acceptedState().schemas, schemas);
  return accept(breaks, { file: ACCEPTED_FILE, state, whom: 'readers' });
}
