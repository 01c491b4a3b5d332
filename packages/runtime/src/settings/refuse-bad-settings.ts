import { formatFaults, type ReadOptions, readSettings } from './read-settings.ts';
import type { Environment } from './settings.ts';

const EXIT_CONFIGURATION = 78;

/**
 * Ends the process where its settings are wrong, naming all of them. For the first line of a process:
 * what serves takes a second to load, and whoever mistyped a setting need not wait for it.
 */
export function refuseBadSettings(env: Environment, options: ReadOptions = {}): void {
  const read = readSettings(env, options);
  if (!('faults' in read)) return;
  process.stderr.write(`${formatFaults(read.faults)}\n`);
  process.exit(EXIT_CONFIGURATION);
}
