/**
 * Prints the gateway's configuration template, made from the contracts of all endpoints; `--write`
 * writes it and the files beside it to `deploy/gateway`.
 */
import { writeFileSync } from 'node:fs';
import { describedEndpoints } from './gateway/endpoints.ts';
import { GATEWAY_FOLDER, gatewayFiles } from './gateway/files.ts';

const files = gatewayFiles(await describedEndpoints());
if (process.argv.includes('--write')) {
  for (const [name, text] of Object.entries(files))
    writeFileSync(new URL(name, GATEWAY_FOLDER), text);
} else process.stdout.write(files['nginx.conf.template'] ?? '');
