/**
 * Reads the records of a CSV file (RFC 4180) with the names of the first record, each with the line at which it begins.
 */
import { NotDone } from '../failures.ts';
import { RECORD_CHARACTERS_MAX } from './file-text.ts';

export type CsvRecord = {
  readonly line: number;
  /** Undefined if the record's number of fields differs from the first one's, or if it is too large. */
  readonly fields: ReadonlyMap<string, string> | undefined;
};

export async function* csvRecords(
  chunks: AsyncIterable<string>,
  separators: readonly string[] = [',', ';', '\t'],
): AsyncGenerator<CsvRecord, void> {
  const reader = rowReader(separators);
  let names: readonly string[] | undefined;
  const rows = function* (given: Iterable<CsvLine>): Generator<CsvRecord, void> {
    for (const { line, values } of given) {
      if (values?.length === 1 && values[0] === '') continue;
      if (names === undefined) names = values?.map((name) => name.trim().toLowerCase()) ?? [];
      else yield { line, fields: named(names, values) };
    }
  };
  for await (const chunk of chunks) yield* rows(reader.read(chunk));
  yield* rows(reader.end());
}

const named = (names: readonly string[], values: readonly string[] | undefined) =>
  values?.length === names.length
    ? new Map(names.map((name, at) => [name, values[at] ?? '']))
    : undefined;

type CsvLine = { readonly line: number; readonly values: readonly string[] | undefined };

/** The separator is the first of the given ones that occurs outside of quotes. */
function rowReader(separators: readonly string[]) {
  let separator: string | undefined;
  let line = 1;
  let begun = 1;
  let values: string[] = [];
  let value = '';
  let characters = 0;
  let isQuoted = false;
  /** The previous character was a quote that may be the first of two. */
  let isAfterQuote = false;
  const endValue = (): void => {
    values.push(value);
    value = '';
    isAfterQuote = false;
  };
  const endRow = (): CsvLine => {
    endValue();
    const row = { line: begun, values: characters > RECORD_CHARACTERS_MAX ? undefined : values };
    values = [];
    characters = 0;
    return row;
  };
  const add = (character: string): void => {
    characters += 1;
    if (characters <= RECORD_CHARACTERS_MAX) value += character;
  };
  return {
    *read(chunk: string): Generator<CsvLine, void> {
      for (const character of chunk) {
        if (character === '\n') line += 1;
        if (isQuoted) {
          if (character === '"') {
            isQuoted = false;
            isAfterQuote = true;
          } else add(character);
          continue;
        }
        if (character === '"') {
          if (isAfterQuote) add('"');
          isQuoted = isAfterQuote || value === '';
          if (!isQuoted) add('"');
          isAfterQuote = false;
          continue;
        }
        isAfterQuote = false;
        if (separators.includes(character) && (separator ?? character) === character) {
          separator = character;
          endValue();
        } else if (character === '\n') {
          yield endRow();
          begun = line;
        } else if (character !== '\r') add(character);
      }
    },
    *end(): Generator<CsvLine, void> {
      if (isQuoted) throw new NotDone('the file was cut');
      if (value !== '' || values.length > 0) yield endRow();
    },
  };
}
