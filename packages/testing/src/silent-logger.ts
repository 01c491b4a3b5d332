import type { Logger } from '@cardea/runtime';

/** A logger that writes nothing. Tests of log lines use their own. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};
