import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { CSV_HEADER, CsvOfCopy, csvCell } from './csv-of-copy.ts';

const csvOf = (chunks: readonly Buffer[]) => text(Readable.from(chunks).pipe(new CsvOfCopy()));

describe('audit 5 a cell of the export', () => {
  it.each(['=1+1', '+1', '-1', '@x', '\tx', '\rx', '\nx', '\0x', '＝x', '＋x', '－x', '＠x'])(
    'is no formula when it starts as %j does',
    (value) => {
      expect(csvCell(value).replace(/^"/, '').startsWith("'")).toBe(true);
    },
  );

  it('is quoted where it holds a quote, a comma or a line end', () => {
    expect(csvCell('a"b')).toBe('"a""b"');
    expect(csvCell('a,b')).toBe('"a,b"');
    expect(csvCell('a\r\nb')).toBe('"a\r\nb"');
    expect(csvCell('plain')).toBe('plain');
  });
});

describe('audit 5 the export', () => {
  it('has a header when there is no row', async () => {
    expect(await csvOf([])).toBe(CSV_HEADER);
  });

  it('is the same wherever its source is cut into chunks', async () => {
    const source = Buffer.from('1\ta\\tb\t\\N\tzoë 🦊\n2\tc\\nd\t\\\\\t\n', 'utf8');
    const whole = await csvOf([source]);
    expect(whole).toBe(`${CSV_HEADER}1,a\tb,,zoë 🦊\r\n2,"c\nd",\\,\r\n`);
    for (let cut = 1; cut < source.length; cut++) {
      expect(await csvOf([source.subarray(0, cut), source.subarray(cut)])).toBe(whole);
    }
  });
});
