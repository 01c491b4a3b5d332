/** `npm run cardea -- <command>`: operations on a deployment, running or stopped. */
import packageJson from '../package.json' with { type: 'json' };
import { runCardea } from './cli/run.ts';

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => stop.abort());
}
const code = await runCardea({
  args: process.argv.slice(2),
  env: process.env,
  version: packageJson.version,
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  signal: stop.signal,
});
process.exit(code);
