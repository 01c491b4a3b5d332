import { describe, expect, it } from 'vitest';
import { printCursor, readCursor } from './cursor.ts';

const cursor = { ts: '2026-01-02T03:04:05.678Z', id: '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b' };

describe('F3 a cursor', () => {
  it('is read as it was printed', () => {
    expect(readCursor(printCursor(cursor))).toEqual(cursor);
  });

  it.each([
    '',
    'x',
    printCursor({ ...cursor, ts: '2026-13-99T03:04:05.678Z' }),
    printCursor({ ...cursor, id: 'no uuid' }),
    `${printCursor(cursor)}=`,
    'A'.repeat(500),
  ])('is nothing when it is %j', (text) => {
    expect(readCursor(text)).toBeUndefined();
  });
});
