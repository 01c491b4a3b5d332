/**
 * The OpenAPI document of all services.
 *
 *   node scripts/openapi.ts            prints it
 *   node scripts/openapi.ts --accept   at a release: accepts the current surface as the one that must not break
 */
import { accept } from './accepting.ts';
import { documentsOf, product, version } from './gateway/files.ts';
import { ACCEPTED_FILE, type AcceptedSurface, acceptedSurface } from './openapi/accepted.ts';
import { promisedBy } from './openapi/promised.ts';
import { restBreaks } from './openapi/rest-breaks.ts';

const text = documentsOf(await product()).get('openapi.json') ?? '';
if (process.argv.includes('--accept')) process.exitCode = acceptSurface();
else process.stdout.write(text);

function acceptSurface(): number {
  const operations = promisedBy(JSON.parse(text));
  const state: AcceptedSurface = { release: version, operations };
  const breaks = restBreaks(acceptedSurface().operations, operations);
  return accept(breaks, { file: ACCEPTED_FILE, state, whom: 'clients' });
}
