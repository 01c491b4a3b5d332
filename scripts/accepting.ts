/**
 * Accepts the current surface at a release as the one that must not break, unless it breaks clients or
 * readers without a note in the changelog.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { jsonText } from '@cardea/documents';
import { type SchemaBreak, unexplained } from './events/schema-breaks.ts';

const CHANGELOG = new URL('../CHANGELOG.md', import.meta.url);

export type Promised = {
  readonly file: URL;
  /** The content of the file. */
  readonly state: { readonly release: string };
  /** Who is affected by a break. */
  readonly whom: 'clients' | 'readers';
};

/** Returns the exit code. */
export function accept(breaks: readonly SchemaBreak[], { file, state, whom }: Promised): number {
  const refused = unexplained(breaks, readFileSync(CHANGELOG, 'utf8'));
  for (const { subject, at, what } of refused) console.error(`${subject} ${at} ${what}`);
  if (refused.length > 0) {
    console.error(
      `Each of these breaks ${whom}: name it under Breaking in CHANGELOG.md, or undo it.`,
    );
    return 1;
  }
  writeFileSync(file, jsonText(state));
  console.log(`Accepted as of ${state.release}.`);
  return 0;
}
