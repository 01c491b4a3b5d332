/**
 * Rows of `COPY … TO STDOUT` as lines of JSON. The bytes are converted one by one, because JavaScript values of each
 * row and column would take several times as long.
 */
import { computedOnce } from '@cardea/runtime';
import { type CopiedRow, printedTexts, unescaped } from '../pool/copied-rows.ts';

/** A column of the rows. `time` is a timestamp in UTC, `texts` a `text[]`. All may be null. */
export type LineField = {
  readonly name: string;
  readonly form: 'text' | 'boolean' | 'time' | 'texts';
};

const byteOf = (character: string): number => character.charCodeAt(0);
const TAB = byteOf('\t');
const LINE_BREAK = byteOf('\n');
const SPACE = byteOf(' ');
const QUOTE = byteOf('"');
const BACKSLASH = byteOf('\\');
const DOT = byteOf('.');
const ZERO = byteOf('0');
const NINE = byteOf('9');
const UPPER_N = byteOf('N');
const LOWER_T = byteOf('t');
const LOWER_V = byteOf('v');
const VERTICAL_TAB = byteOf('\v');

const NULL = Buffer.from('null');
const TRUE = Buffer.from('true');
const FALSE = Buffer.from('false');
const END = Buffer.from('}\n');

const DATE_BYTES = '2026-11-27'.length;
const TIME_BYTES = '22:21:10'.length;
const FRACTION_DIGITS = 3;
const ZULU = Buffer.from('Z"');
const TIME_MARK = Buffer.from('T');

/** A byte of a row becomes six at most: `\u0001`. */
const BYTES_PER_BYTE_MAX = 6;

/** Many rows have the same texts, or none. */
const CACHED_TEXTS_MAX = 1_000;
const cachedTexts = computedOnce<string, Buffer>(CACHED_TEXTS_MAX);

/** Lines that are collected in memory, which is used again after they were cleared. */
export class JsonLines {
  readonly #fields: readonly { readonly key: Buffer; readonly form: LineField['form'] }[];
  readonly #keyBytes: number;
  #lines: Buffer;
  #used = 0;
  #row: CopiedRow = Buffer.alloc(0);
  #at = 0;
  #count = 0;

  /** `bytes` is the expected size of the lines. */
  constructor(fields: readonly LineField[], bytes: number) {
    this.#fields = fields.map(({ name, form }, at) => ({
      key: Buffer.from(`${at === 0 ? '{' : ','}${JSON.stringify(name)}:`),
      form,
    }));
    this.#keyBytes = this.#fields.reduce((sum, { key }) => sum + key.length, END.length);
    this.#lines = Buffer.allocUnsafeSlow(bytes);
  }

  get count(): number {
    return this.#count;
  }

  get bytes(): Buffer {
    return this.#lines.subarray(0, this.#used);
  }

  /** Removes all lines. The next ones overwrite what {@link bytes} has returned. */
  clear(): void {
    this.#used = 0;
    this.#count = 0;
  }

  add(row: CopiedRow): void {
    this.#row = row;
    this.#at = 0;
    this.#reserve(this.#keyBytes + row.length * BYTES_PER_BYTE_MAX);
    for (const { key, form } of this.#fields) {
      this.#write(key);
      this.#value(form);
      this.#at += 1;
    }
    this.#write(END);
    this.#count += 1;
  }

  /** Makes room for this number of bytes, the most that a row can need. */
  #reserve(bytes: number): void {
    const needed = this.#used + bytes;
    if (needed <= this.#lines.length) return;
    const larger = Buffer.allocUnsafeSlow(needed + this.#lines.length);
    larger.set(this.bytes);
    this.#lines = larger;
  }

  #value(form: LineField['form']): void {
    const first = this.#row[this.#at];
    if (first === BACKSLASH && this.#row[this.#at + 1] === UPPER_N) {
      this.#at += 2;
      this.#write(NULL);
      return;
    }
    switch (form) {
      case 'text':
        this.#text();
        break;
      case 'boolean':
        this.#at += 1;
        this.#write(first === LOWER_T ? TRUE : FALSE);
        break;
      case 'time':
        this.#time();
        break;
      case 'texts':
        this.#texts();
        break;
    }
  }

  /** JSON has the escapes of COPY except `\v`. In addition it escapes quotes and all control characters. */
  #text(): void {
    const row = this.#row;
    const lines = this.#lines;
    let at = this.#at;
    let used = this.#used;
    lines[used++] = QUOTE;
    for (; at < row.length; at++) {
      const byte = row[at] as number;
      if (byte >= SPACE && byte !== QUOTE && byte !== BACKSLASH) {
        lines[used++] = byte;
      } else if (byte === BACKSLASH && row[at + 1] !== LOWER_V) {
        lines[used++] = BACKSLASH;
        at += 1;
        lines[used++] = row[at] as number;
      } else if (byte === BACKSLASH) {
        at += 1;
        used += lines.write(escaped(VERTICAL_TAB), used);
      } else if (byte === TAB || byte === LINE_BREAK) {
        break;
      } else {
        used += lines.write(escaped(byte), used);
      }
    }
    lines[used++] = QUOTE;
    this.#at = at;
    this.#used = used;
  }

  /** Converts `2026-11-27 22:21:10.1` to the JSON form of all times: milliseconds, in UTC. */
  #time(): void {
    this.#lines[this.#used++] = QUOTE;
    this.#copy(DATE_BYTES);
    this.#write(TIME_MARK);
    this.#at += 1;
    this.#copy(TIME_BYTES);
    this.#lines[this.#used++] = DOT;
    if (this.#row[this.#at] === DOT) this.#at += 1;
    for (let digit = 0; digit < FRACTION_DIGITS; digit++) {
      if (isDigit(this.#row[this.#at])) this.#copy(1);
      else this.#lines[this.#used++] = ZERO;
    }
    while (isDigit(this.#row[this.#at])) this.#at += 1;
    this.#write(ZULU);
  }

  #texts(): void {
    const from = this.#at;
    while (this.#at < this.#row.length && !isEnd(this.#row[this.#at])) this.#at += 1;
    const copied = this.#row.toString('latin1', from, this.#at);
    this.#write(cachedTexts(copied, () => textsOf(copied)));
  }

  #copy(bytes: number): void {
    for (let left = bytes; left > 0; left--) {
      this.#lines[this.#used++] = this.#row[this.#at++] as number;
    }
  }

  #write(bytes: Buffer): void {
    const lines = this.#lines;
    const used = this.#used;
    for (let at = 0; at < bytes.length; at++) lines[used + at] = bytes[at] as number;
    this.#used = used + bytes.length;
  }
}

const isDigit = (byte: number | undefined): boolean =>
  byte !== undefined && byte >= ZERO && byte <= NINE;
const isEnd = (byte: number | undefined): boolean => byte === TAB || byte === LINE_BREAK;

/** The JSON escape of a quote or a control character. */
const escaped = (byte: number): string => JSON.stringify(String.fromCharCode(byte)).slice(1, -1);

/** Latin-1 represents each byte by one character. */
const textsOf = (latin1: string): Buffer =>
  Buffer.from(JSON.stringify(printedTexts(unescaped(Buffer.from(latin1, 'latin1').toString()))));
