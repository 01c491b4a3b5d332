/**
 * Prints the gateway's configuration template, made from the contracts of all endpoints; `--write`
 * writes it to `deploy/gateway`.
 */
import { writeFileSync } from 'node:fs';
import { GATEWAY_FOLDER, product, TEMPLATE_FILE, templateOf } from './gateway/files.ts';

const template = templateOf(await product());
if (process.argv.includes('--write')) {
  writeFileSync(new URL(TEMPLATE_FILE, GATEWAY_FOLDER), template);
} else process.stdout.write(template);
