/**
 * The OpenAPI document of all services.
 *
 *   node scripts/openapi.ts            prints it
 *   node scripts/openapi.ts --write    writes it to where the gateway serves it from
 *   node scripts/openapi.ts --accept   at a release: from now on the surface as it stands must not break
 */
import { writeFileSync } from 'node:fs';
import { accept } from './accepting.ts';
import { describedEndpoints, version } from './gateway/endpoints.ts';
import { documentFile, GATEWAY_FOLDER } from './gateway/files.ts';
import { ACCEPTED_FILE, type AcceptedSurface, acceptedSurface } from './openapi/accepted.ts';
import { promisedBy } from './openapi/promised.ts';
import { restBreaks } from './openapi/rest-breaks.ts';

const files = documentFile(await describedEndpoints());
for (const [name, text] of Object.entries(files)) {
  if (process.argv.includes('--accept')) process.exitCode = acceptSurface(text);
  else if (process.argv.includes('--write')) writeFileSync(new URL(name, GATEWAY_FOLDER), text);
  else process.stdout.write(text);
}

function acceptSurface(text: string): number {
  const operations = promisedBy(JSON.parse(text));
  const state: AcceptedSurface = { release: version, operations };
  const breaks = restBreaks(acceptedSurface().operations, operations);
  return accept(breaks, { file: ACCEPTED_FILE, state, whom: 'clients' });
}
