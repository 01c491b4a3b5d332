/**
 * Parses JSON strictly: what `JSON.parse` accepts silently (duplicate keys, `__proto__`, lone surrogates,
 * NUL, unlimited depth) is refused, and no message quotes the text.
 */
import { isAscii, isUtf8 } from 'node:buffer';

/** The nesting limit is the number of bits of a number, since one bit per level tells whether the level is an array. */
export const JSON_DEPTH_MAX = 32;
export const JSON_KEYS_MAX = 1_000;
/** The most items of all arrays together. */
export const JSON_ELEMENTS_MAX = 10_000;
/** The most bytes outside of strings. A longer text has to consist of long strings. */
export const JSON_STRUCTURE_MAX_BYTES = 256 * 1024;

/** Why a text was refused: `rule` in the details of a 400. */
export type JsonFault =
  | 'utf8'
  | 'syntax'
  | 'depth'
  | 'too_many_keys'
  | 'too_many_elements'
  | 'too_much_structure'
  | 'duplicate_key'
  | 'forbidden_key'
  | 'nul'
  | 'lone_surrogate'
  | 'number_range';

export type JsonReading = { readonly value: unknown } | { readonly fault: JsonFault };

const FORBIDDEN_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Parses JSON. The number of members of all objects together is limited to `keysMax`. */
export function readJson(bytes: Buffer, keysMax = JSON_KEYS_MAX): JsonReading {
  // All characters with a meaning in JSON are ASCII, so the text can be scanned byte by byte. The scan is cheap and
  // comes first, since its limits reject texts of any length.
  const latin1 = bytes.toString('latin1');
  const scan = new JsonScan(keysMax);
  const fault = scan.add(latin1);
  if (fault !== undefined) return { fault };
  const isPlain = isAscii(bytes);
  if (!isPlain && !isUtf8(bytes)) return { fault: 'utf8' };
  // A byte order mark stays in the string, and JSON.parse refuses it.
  const text = isPlain ? latin1 : bytes.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The message would quote the text.
    return { fault: 'syntax' };
  }
  const walk: Walk = { keys: 0, fault: undefined, escapes: text.includes('\\') };
  inspect(value, walk);
  if (walk.fault !== undefined) return { fault: walk.fault };
  // A later duplicate replaces the earlier key and everything below it, so the value has fewer keys than the text.
  return walk.keys === scan.keys ? { value } : { fault: 'duplicate_key' };
}

/**
 * Checks the limits of a text that may be JSON, part by part as it arrives. All characters with a meaning in JSON are
 * ASCII, so each part is a Latin-1 reading of bytes.
 */
export class JsonScan {
  readonly #keysMax: number;
  /** The number of keys, if the text is JSON. There are as many as colons outside of strings. */
  keys = 0;
  #depth = 0;
  #elements = 0;
  /** The number of positions examined: everything outside of strings, and their first quotes. */
  #structure = 0;
  /** The lowest bit tells whether the innermost level is an array. */
  #arrays = 0;
  #isInString = false;
  /** True if the part ended with a backslash that escapes the first character of the next part. */
  #isEscaped = false;

  constructor(keysMax = JSON_KEYS_MAX) {
    this.#keysMax = keysMax;
  }

  add(text: string): JsonFault | undefined {
    const from = this.#isInString ? this.#endOfString(text, this.#isEscaped ? 1 : 0) + 1 : 0;
    for (let at = from; at < text.length; at += 1) {
      this.#structure += 1;
      if (this.#structure > JSON_STRUCTURE_MAX_BYTES) return 'too_much_structure';
      switch (text.charCodeAt(at)) {
        case QUOTE:
          at = this.#endOfString(text, at + 1);
          break;
        case COLON:
          this.keys += 1;
          if (this.keys > this.#keysMax) return 'too_many_keys';
          break;
        case COMMA:
          this.#elements += this.#arrays & 1;
          if (this.#elements > JSON_ELEMENTS_MAX) return 'too_many_elements';
          break;
        case OPEN_BRACE:
        case OPEN_BRACKET:
          this.#depth += 1;
          if (this.#depth > JSON_DEPTH_MAX) return 'depth';
          // The first item has no comma before it, so an array counts as one item from the start.
          this.#arrays = (this.#arrays << 1) | (text.charCodeAt(at) & ARRAY_BIT ? 0 : 1);
          this.#elements += this.#arrays & 1;
          break;
        case CLOSE_BRACE:
        case CLOSE_BRACKET:
          this.#depth -= 1;
          this.#arrays >>>= 1;
          break;
      }
    }
    return this.#elements > JSON_ELEMENTS_MAX ? 'too_many_elements' : undefined;
  }

  /** The index of the closing quote of a string, or the text's length when it is in none of the parts so far. */
  #endOfString(text: string, from: number): number {
    for (let at = from; ; at += 1) {
      const quote = text.indexOf('"', at);
      const end = quote === -1 ? text.length : quote;
      let backslashes = 0;
      while (end - backslashes > from && text.charCodeAt(end - backslashes - 1) === BACKSLASH) {
        backslashes += 1;
      }
      const isEscaped = backslashes % 2 === 1;
      this.#isInString = quote === -1;
      this.#isEscaped = isEscaped;
      if (quote === -1 || !isEscaped) return end;
      at = quote;
    }
  }
}
/** The bit in which a brace and a bracket differ. */
const ARRAY_BIT = 0x20;

type Walk = { keys: number; fault: JsonFault | undefined; readonly escapes: boolean };

/** Recurses safely, because the earlier scan has limited the depth. */
function inspect(value: unknown, walk: Walk): void {
  if (typeof value === 'string') {
    if (walk.escapes) walk.fault ??= faultOfText(value);
  } else if (typeof value === 'number') {
    if (!Number.isFinite(value)) walk.fault ??= 'number_range';
  } else if (Array.isArray(value)) {
    for (const item of value) inspect(item, walk);
  } else if (value !== null && typeof value === 'object') {
    for (const key of Object.keys(value)) {
      walk.keys += 1;
      if (FORBIDDEN_KEYS.has(key)) walk.fault ??= 'forbidden_key';
      if (walk.escapes) walk.fault ??= faultOfText(key);
      inspect((value as { [key: string]: unknown })[key], walk);
    }
  }
}

/** Only escapes can produce these, because JSON has no raw control characters and UTF-8 no raw surrogates. */
function faultOfText(text: string): JsonFault | undefined {
  if (text.includes('\0')) return 'nul';
  return text.isWellFormed() ? undefined : 'lone_surrogate';
}

/** Returns the same text for equal values (sorted keys, no spaces), for hashes of bodies. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value !== null && typeof value === 'object') {
    const record = value as { [key: string]: unknown };
    const members = Object.keys(record)
      .filter((key) => record[key] !== undefined)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${canonicalJson(record[key])}`);
    return `{${members.join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}
