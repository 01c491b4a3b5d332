/** Runs the audit projector as a separate process. Only this file reads `process.env`. */
import { hookImports, refuseBadSettings } from '@cardea/runtime';
import packageJson from '../package.json' with { type: 'json' };

refuseBadSettings(process.env);
await hookImports(process.env);
const [{ runService }, { auditService }] = await Promise.all([
  import('@cardea/service'),
  import('./service.ts'),
]);
const { version } = packageJson;
await runService(auditService, { version, env: process.env, words: process.argv.slice(2) });
