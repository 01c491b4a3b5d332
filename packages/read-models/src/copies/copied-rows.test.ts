import { describe, expect, it } from 'vitest';
import { copiedRows } from './copied-rows.ts';

function message(code: string, content: string): Buffer {
  const bytes = Buffer.from(content);
  const header = Buffer.alloc(5);
  header.write(code);
  header.writeUInt32BE(bytes.length + 4, 1);
  return Buffer.concat([header, bytes]);
}

const ROWS = ['1\tone\n', '', '2\tzwölf\n', `3\t${'long'.repeat(40)}\n`];
const END = Buffer.concat([message('c', ''), message('C', 'COPY 3\0'), message('Z', 'I')]);

function read(chunks: readonly Buffer[]) {
  const rowsOf = copiedRows();
  let text = '';
  for (const [at, chunk] of chunks.entries()) {
    const { text: part, rest } = rowsOf(Buffer.from(chunk));
    text += part.toString('latin1');
    if (rest !== undefined) {
      return { text, rest: Buffer.concat([rest, ...chunks.slice(at + 1)]) };
    }
  }
  return { text, rest: undefined };
}

const TEXT = Buffer.from(ROWS.join('')).toString('latin1');

describe('the rows of a copy', () => {
  const answer = Buffer.concat([
    message('H', '\0\0\0'),
    message('d', ROWS[0] as string),
    message('N', 'a notice'),
    ...ROWS.slice(1).map((row) => message('d', row)),
    END,
  ]);

  it('are the same wherever the messages are cut', () => {
    for (let first = 0; first <= answer.length; first += 1) {
      for (const size of [1, 3, 7, 1000]) {
        const chunks = [answer.subarray(0, first)];
        for (let at = first; at < answer.length; at += size) {
          chunks.push(answer.subarray(at, at + size));
        }
        expect(read(chunks)).toEqual({ text: TEXT, rest: END });
      }
    }
  });

  it('end before an error, which is left to the driver', () => {
    const error = message('E', 'SERROR\0\0');
    expect(read([message('d', '1\n'), error])).toEqual({ text: '1\n', rest: error });
  });
});
