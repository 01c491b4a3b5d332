/** The vault as a process of its own. The only file here that touches `process.env`. */
import { runService } from '@cardea/service';
import packageJson from '../package.json' with { type: 'json' };
import { vaultService } from './service.ts';

const { version } = packageJson;
await runService(vaultService, { version, env: process.env, words: process.argv.slice(2) });
