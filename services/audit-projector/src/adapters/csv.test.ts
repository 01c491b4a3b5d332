import { describe, expect, it } from 'vitest';
import { CSV_COLUMNS, CSV_HEADER, type CsvRow, csvLines } from './csv.ts';

const EMPTY = Object.fromEntries(CSV_COLUMNS.map((column) => [column, null])) as CsvRow;
const lineOf = (row: Partial<CsvRow>) => csvLines([{ ...EMPTY, ...row }]);
const cellOf = (value: string) => lineOf({ id: value }).replace(/,{11}\r\n$/, '');

describe('audit 5 a cell of the export', () => {
  it.each(['=1+1', '+1', '-1', '@x', '\tx', '\rx', '\nx', '\0x', '＝x', '＋x', '－x', '＠x'])(
    'is no formula when it starts as %j does',
    (value) => {
      expect(cellOf(value).replace(/^"/, '').startsWith("'")).toBe(true);
    },
  );

  it('is quoted where it holds a quote, a comma or a line end', () => {
    expect(cellOf('a"b')).toBe('"a""b"');
    expect(cellOf('a,b')).toBe('"a,b"');
    expect(cellOf('a\r\nb')).toBe('"a\r\nb"');
    expect(cellOf('a\nb')).toBe('"a\nb"');
    expect(cellOf('a\rb')).toBe('"a\rb"');
    expect(cellOf('plain')).toBe('plain');
  });
});

describe('audit 5 the export', () => {
  it('has no line where there is no row, and one header', () => {
    expect(csvLines([])).toBe('');
    expect(CSV_HEADER.split(',')).toHaveLength(CSV_COLUMNS.length);
  });

  it('ends each row by CRLF and leaves an unknown cell empty', () => {
    const row = { ...EMPTY, id: '1', actor_id: 'zoë 🦊' };
    expect(csvLines([row, row])).toBe('1,,,,,,,zoë 🦊,,,,\r\n'.repeat(2));
  });
});
