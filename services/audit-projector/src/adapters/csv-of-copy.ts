/**
 * Lines of the export (RFC 4180, CRLF). A cell that a spreadsheet would take for a formula gets a
 * leading apostrophe.
 */

import { Transform, type TransformCallback } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

export const CSV_COLUMNS = [
  'id',
  'timestamp',
  'type',
  'category',
  'action',
  'result',
  'actor_type',
  'actor_id',
  'target_type',
  'target_id',
  'source_ip',
  'source_user_agent',
] as const;

export const CSV_HEADER = `${CSV_COLUMNS.join(',')}\r\n`;

const FORMULA = /^[=+\-@\t\r\n\0＝＋－＠]/;
const NEEDS_QUOTES = /[",\r\n]/;

export function csvCell(value: string): string {
  const safe = FORMULA.test(value) ? `'${value}` : value;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const ESCAPES: { readonly [letter: string]: string } = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
};

/** A cell of PostgreSQL's text format; `\N` is null. */
const copyCell = (cell: string): string =>
  cell === '\\N'
    ? ''
    : cell.replaceAll(/\\(.)/g, (_all, letter: string) => ESCAPES[letter] ?? letter);

const csvLine = (line: string): string =>
  `${line.split('\t').map(copyCell).map(csvCell).join(',')}\r\n`;

/** From PostgreSQL's text format to CSV, header included; counts its rows. */
export class CsvOfCopy extends Transform {
  rows = 0;
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';

  constructor() {
    super();
    this.push(CSV_HEADER);
  }

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    // A chunk may end in the middle of a character or of a line.
    const lines = (this.#rest + this.#decoder.write(chunk)).split('\n');
    this.#rest = lines.pop() ?? '';
    this.rows += lines.length;
    done(null, lines.map(csvLine).join(''));
  }

  override _flush(done: TransformCallback): void {
    done();
  }
}
