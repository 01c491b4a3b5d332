/** Reads a text file in pieces, so that a file of 100,000 users is never completely in memory. */
import { createReadStream } from 'node:fs';
import { NotDone } from '../failures.ts';

const BYTE_ORDER_MARK = '\uFEFF';

export async function* textOf(file: string): AsyncGenerator<string, void> {
  let isFirst = true;
  try {
    for await (const chunk of createReadStream(file, 'utf8')) {
      const text = String(chunk);
      yield isFirst && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
      isFirst = false;
    }
  } catch (error) {
    if (error instanceof NotDone) throw error;
    throw new NotDone('the file cannot be read');
  }
}

/** The maximum size of a user's record. */
export const RECORD_CHARACTERS_MAX = 262_144;

/** One record of a file, with the line at which it begins. */
export type FileRecord = {
  readonly line: number;
  /** Undefined if the text is too large. */
  readonly text: string | undefined;
};

/** Yields each line that is not empty. */
export async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<FileRecord, void> {
  let rest = '';
  let isTooLarge = false;
  let line = 1;
  const record = (text: string): FileRecord => ({
    line,
    text: isTooLarge || text.length > RECORD_CHARACTERS_MAX ? undefined : text,
  });
  for await (const chunk of chunks) {
    const parts = `${rest}${chunk}`.split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      if (part.trim() !== '' || isTooLarge) yield record(part);
      isTooLarge = false;
      line += 1;
    }
    if (rest.length > RECORD_CHARACTERS_MAX) {
      rest = '';
      isTooLarge = true;
    }
  }
  if (rest.trim() !== '' || isTooLarge) yield record(rest);
}

/** Returns undefined if the text is no JSON object. */
export function objectIn(text: string): Fields | undefined {
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}

export type Fields = { readonly [name: string]: unknown };

export const fieldsOf = (value: unknown): Fields | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : undefined;

/** An empty text counts as missing. */
export const stringOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined;
