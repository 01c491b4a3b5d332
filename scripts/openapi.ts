/** Prints the OpenAPI document of all services; `--write` writes it to where the gateway serves it from. */
import { writeFileSync } from 'node:fs';
import { describedEndpoints } from './gateway/endpoints.ts';
import { documentFile, GATEWAY_FOLDER } from './gateway/files.ts';

for (const [name, text] of Object.entries(documentFile(await describedEndpoints()))) {
  if (process.argv.includes('--write')) writeFileSync(new URL(name, GATEWAY_FOLDER), text);
  else process.stdout.write(text);
}
