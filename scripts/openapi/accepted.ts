/** The surface that the last release promised its clients, stored in the repository. */
import { readFileSync } from 'node:fs';
import type { Promised } from './promised.ts';

export const ACCEPTED_FILE = new URL('./accepted.json', import.meta.url);

export type AcceptedSurface = {
  /** Version of the release that promised it. */
  readonly release: string;
  readonly operations: Promised;
};

export const acceptedSurface = (): AcceptedSurface =>
  JSON.parse(readFileSync(ACCEPTED_FILE, 'utf8'));
