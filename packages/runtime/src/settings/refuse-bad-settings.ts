import { formatFaults, type ReadOptions, readSettings } from './read-settings.ts';
import type { Environment } from './settings.ts';

const EXIT_CONFIGURATION = 78;

/**
 * Ends the process when its settings are wrong, and names all faults. It is the first line of a process, because the
 * rest takes a second to load and a typing error should be shown at once.
 */
export function refuseBadSettings(env: Environment, options: ReadOptions = {}): void {
  const read = readSettings(env, options);
  if (!('faults' in read)) return;
  process.stderr.write(`${formatFaults(read.faults)}\n`);
  process.exit(EXIT_CONFIGURATION);
}
