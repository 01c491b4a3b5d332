/** Identity as a process of its own. The only file here that touches `process.env`. */
import { runService } from '@cardea/service';
import packageJson from '../package.json' with { type: 'json' };
import { identityService } from './service.ts';

const { version } = packageJson;
await runService(identityService, { version, env: process.env, words: process.argv.slice(2) });
