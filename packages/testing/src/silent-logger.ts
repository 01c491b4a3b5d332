import type { Logger } from '@cardea/runtime';

/** A logger that says nothing; a test that looks at log lines brings its own. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};
