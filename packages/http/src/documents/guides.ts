/**
 * The guides of the repository, for the pages of development. An image contains no documents, so a process in a
 * container has none.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Guide = {
  /** The name of its file, without the extension. */
  readonly name: string;
  /** The path at which this server shows it. */
  readonly path: string;
  /** Markdown. It is read when it is shown, not when the process starts. */
  readonly text: () => string;
};

const FOLDER = join(import.meta.dirname, '../../../../docs/guides');
/** The guide with which a newcomer begins. */
const FIRST = 'start.md';

/** The guides are in the order in which a newcomer reads them. */
export function guides(): readonly Guide[] {
  if (!existsSync(FOLDER)) return [];
  const others = readdirSync(FOLDER).filter((file) => file.endsWith('.md') && file !== FIRST);
  return [FIRST, ...others.toSorted()].map((file) => ({
    name: file.replace(/\.md$/, ''),
    path: `/dev/guides/${file}`,
    text: () => readFileSync(join(FOLDER, file), 'utf8'),
  }));
}

export const titleOf = ({ name, text }: Guide): string => /^# (.+)$/m.exec(text())?.[1] ?? name;
