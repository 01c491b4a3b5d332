/**
 * Writes the lines of an export (RFC 4180, CRLF). A cell that a spreadsheet would treat as a formula gets a leading
 * apostrophe.
 */
import { stringify } from 'csv-stringify/sync';

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

/** Null for an empty cell. */
export type CsvRow = { readonly [column in (typeof CSV_COLUMNS)[number]]: string | null };

export const CSV_HEADER = `${CSV_COLUMNS.join(',')}\r\n`;

const FORMULA = /^[=+\-@\t\r\n\0＝＋－＠]/;
const withoutFormula = (cell: string): string => (FORMULA.test(cell) ? `'${cell}` : cell);

export const csvLines = (rows: readonly CsvRow[]): string =>
  stringify([...rows], {
    columns: [...CSV_COLUMNS],
    record_delimiter: '\r\n',
    quote_record_delimiter: true,
    cast: { string: withoutFormula },
  });
