/** The Python that tests run: that of the libraries of others where it was made, else the one of the machine. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const OWN = join(resolve(import.meta.dirname, '../..'), '.cache/python/bin/python3');
export const PYTHON = existsSync(OWN) ? OWN : 'python3';

/** `requests` alone is what agents of our examples use. */
export const hasRequests = (): boolean => spawnSync(PYTHON, ['-c', 'import requests']).status === 0;
