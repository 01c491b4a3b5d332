/**
 * Rows in the text format of `COPY … TO STDOUT`, for thousands of rows that are only written out again. They cost half
 * as much as rows of SELECT: neither PostgreSQL nor the driver treats each column separately. COPY takes no parameters,
 * so its query reads them from settings of the transaction, which a statement before it in the same round trip sets.
 */
import { types } from 'pg';

/** The line of a row in UTF-8, with its line break. */
export type CopiedRow = Buffer;

/** The text of each column in turn. Times are printed in the zone of the session, unless the query says otherwise. */
export type PrintedRow = readonly (string | null)[];

const NULL = '\\N';
const ESCAPES: { readonly [letter: string]: string } = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

const LINE_BREAK_BYTES = 1;

export function printedRow(copied: CopiedRow): PrintedRow {
  const line = copied.toString('utf8', 0, copied.length - LINE_BREAK_BYTES);
  const columns: (string | null)[] = line.split('\t');
  for (let at = 0; at < columns.length; at++) {
    const text = columns[at] as string;
    if (text.includes('\\')) columns[at] = text === NULL ? null : unescaped(text);
  }
  return columns;
}

export const unescaped = (text: string): string =>
  text.replaceAll(/\\(.)/gs, (_whole, letter: string) => ESCAPES[letter] ?? letter);

const TEXT_ARRAY = 1009;
const parseTexts = types.getTypeParser(TEXT_ARRAY as Parameters<typeof types.getTypeParser>[0]);

/** The elements of a `text[]` as it is printed. */
export const printedTexts = (printed: string): readonly string[] => parseTexts(printed);
