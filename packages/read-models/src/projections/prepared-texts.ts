/** Texts of statements that are prepared under a name: most statements of one writer have one of a few shapes. */
import { hash } from 'node:crypto';

export type PreparedText = { readonly name: string; readonly text: string };

/** Keeps the text of each shape. The number of texts is the number of shapes in the code. */
export function preparedTexts(prefix: string) {
  const known = new Map<string, PreparedText>();
  return (shape: string, textOf: () => string): PreparedText => {
    const found = known.get(shape);
    if (found !== undefined) return found;
    const text = textOf();
    const made = { name: `${prefix}_${hash('sha256', text).slice(0, 24)}`, text };
    known.set(shape, made);
    return made;
  };
}

/** Returns `$1`, `$2`, … */
export function placeholders(): () => string {
  let count = 0;
  return () => `$${++count}`;
}
