/**
 * `npm run events`: writes what subscribers read (`docs/events.md`, `docs/asyncapi.yaml`, `docs/schemas/`)
 * from the contracts.
 *
 *   npm run events               writes
 *   npm run events -- --accept   at a release: from now on the schemas as they stand are what must not break
 */
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ACCEPTED_FILE, type AcceptedState, acceptedState, promised } from './events/accepted.ts';
import { eventDocuments, productVersion, SCHEMA_FOLDER } from './events/documents.ts';
import { jsonText } from './events/json-text.ts';
import { schemaBreaks, unexplained } from './events/schema-breaks.ts';

const root = resolve(import.meta.dirname, '..');
const { values } = parseArgs({ options: { accept: { type: 'boolean', default: false } } });

write();
process.exitCode = values.accept ? accept() : 0;

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

function accept(): number {
  const schemas = promised();
  const changelog = readFileSync(resolve(root, 'CHANGELOG.md'), 'utf8');
  const refused = unexplained(schemaBreaks(acceptedState().schemas, schemas), changelog);
  for (const { subject, at, what } of refused) console.error(`${subject} ${at} ${what}`);
  if (refused.length > 0) {
    console.error(
      'Each of these breaks readers: name it under Breaking in CHANGELOG.md, or undo it.',
    );
    return 1;
  }
  const state: AcceptedState = { release: productVersion(), schemas };
  writeFileSync(ACCEPTED_FILE, jsonText(state));
  console.log(`Accepted as of ${state.release}.`);
  return 0;
}
