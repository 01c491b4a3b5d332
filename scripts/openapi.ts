/**
 * The OpenAPI document of all services.
 *
 *   node scripts/openapi.ts            prints it
 *   node scripts/openapi.ts --write    writes it to where the gateway serves it from
 *   node scripts/openapi.ts --accept   at a release: from now on the surface as it stands must not break
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { jsonText } from './events/json-text.ts';
import { unexplained } from './events/schema-breaks.ts';
import { describedEndpoints, version } from './gateway/endpoints.ts';
import { documentFile, GATEWAY_FOLDER } from './gateway/files.ts';
import { ACCEPTED_FILE, type AcceptedSurface, acceptedSurface } from './openapi/accepted.ts';
import { promisedBy } from './openapi/promised.ts';
import { restBreaks } from './openapi/rest-breaks.ts';

const files = documentFile(await describedEndpoints());
for (const [name, text] of Object.entries(files)) {
  if (process.argv.includes('--accept')) process.exitCode = accept(text);
  else if (process.argv.includes('--write')) writeFileSync(new URL(name, GATEWAY_FOLDER), text);
  else process.stdout.write(text);
}

function accept(text: string): number {
  const operations = promisedBy(JSON.parse(text));
  const changelog = readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8');
  const refused = unexplained(restBreaks(acceptedSurface().operations, operations), changelog);
  for (const { subject, at, what } of refused) console.error(`${subject} ${at} ${what}`);
  if (refused.length > 0) {
    console.error(
      'Each of these breaks clients: name it under Breaking in CHANGELOG.md, or undo it.',
    );
    return 1;
  }
  const state: AcceptedSurface = { release: version, operations };
  writeFileSync(ACCEPTED_FILE, jsonText(state));
  console.log(`Accepted as of ${state.release}.`);
  return 0;
}
