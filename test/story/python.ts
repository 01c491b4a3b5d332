/** The Python that tests run: the one with third-party libraries if it was created, otherwise the machine's own. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const OWN = join(resolve(import.meta.dirname, '../..'), '.cache/python/bin/python3');
export const PYTHON = existsSync(OWN) ? OWN : 'python3';

/** Agents of our examples use only `requests`. */
export const hasRequests = (): boolean => spawnSync(PYTHON, ['-c', 'import requests']).status === 0;
