/**
 * `npm run events`: generates `docs/events.md`, the page for subscribers, from the contracts.
 *
 *   npm run events               writes
 *   npm run events -- --accept   at a release: accepts the current schemas as those that must not break
 */
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { accept } from './accepting.ts';
import { ACCEPTED_FILE, type AcceptedState, acceptedState, promised } from './events/accepted.ts';
import { EVENTS_PAGE, eventsPageText, productVersion } from './events/documents.ts';
import { schemaBreaks } from './events/schema-breaks.ts';

const root = resolve(import.meta.dirname, '..');
const { values } = parseArgs({ options: { accept: { type: 'boolean', default: false } } });

writeFileSync(resolve(root, EVENTS_PAGE), eventsPageText());
process.exitCode = values.accept ? acceptSchemas() : 0;

function acceptSchemas(): number {
  const schemas = promised();
  const state: AcceptedState = { release: productVersion(), schemas };
  const breaks = schemaBreaks(acceptedState().schemas, schemas);
  return accept(breaks, { file: ACCEPTED_FILE, state, whom: 'readers' });
}
