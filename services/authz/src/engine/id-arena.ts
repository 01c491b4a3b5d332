import { grown } from './growing.ts';

const FIRST_WORDS = 16;
export const WORD_BYTES = 4;
const FIRST_TEXT_WORDS = 256;
/** UTF-8 bytes that one UTF-16 unit may need. */
const UNIT_BYTES_MAX = 3;

const LAST_ROUNDS = 3;
/** The words of an encoded id before its text: the number of its type, and the text's length in bytes. */
export const TEXT_AT = 2;

/**
 * An id to search for: the number of its type (0), the text's length in bytes (1), and its UTF-8, padded with zeros.
 * The buffer is reused. Ids that are needed at the same time have separate buffers.
 */
export class EncodedId {
  words = new Uint32Array(FIRST_TEXT_WORDS);
  /** The number of words in use. */
  end = TEXT_AT;
  #bytes = bytesOf(this.words);

  get type(): number {
    return this.words[0] as number;
  }

  /** The length of the text in bytes. */
  get length(): number {
    return this.words[1] as number;
  }

  set(type: number, text: string): void {
    this.#reserve(text.length * UNIT_BYTES_MAX);
    const start = TEXT_AT * WORD_BYTES;
    const length = this.#bytes.write(text, start);
    for (let at = length; at % WORD_BYTES !== 0; at++) this.#bytes[start + at] = 0;
    this.words[0] = type;
    this.words[1] = length;
    this.end = TEXT_AT + wordCountOf(length);
  }

  #reserve(bytes: number): void {
    const end = TEXT_AT + wordCountOf(bytes);
    if (end <= this.words.length) return;
    this.words = new Uint32Array(end);
    this.#bytes = bytesOf(this.words);
  }

  /**
   * HalfSipHash-1-3 with a secret seed. Tenants choose their ids. Without the seed they could construct any number of
   * ids with one hash, and each lookup would walk through them.
   */
  hash([first, second]: Seed): number {
    const { words, end } = this;
    let v0 = first | 0;
    let v1 = second | 0;
    let v2 = 0x6c796765 ^ v0;
    let v3 = 0x74656462 ^ v1;
    for (let at = 0; at < end + LAST_ROUNDS; at++) {
      const word = at < end ? (words[at] as number) : 0;
      if (at === end) v2 ^= 0xff;
      v3 ^= word;
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
      v0 ^= word;
    }
    return (v1 ^ v3) >>> 0;
  }
}

/** Two random words. */
export type Seed = readonly [number, number];

/** A part of a saved index: its numbers, and its words up to the last one in use. */
export type Saved<State> = { readonly state: State; readonly words: readonly Uint32Array[] };

type ArenaState = { readonly used: number; readonly left: readonly (number | null)[] };

/**
 * Stores texts as UTF-8, each after its length and aligned to whole words. A text's location is thus one number, and
 * the space of a removed text is reused by the next text with as many words.
 */
export class IdArena {
  #words: Uint32Array;
  /** Word 0 is not a location. */
  #used: number;
  /** For each number of words the last freed location. Its first word links to the one freed before. */
  readonly #left: number[];

  constructor(saved?: Saved<ArenaState>) {
    this.#words = saved?.words[0] ?? new Uint32Array(FIRST_WORDS);
    this.#used = saved?.state.used ?? 1;
    this.#left = (saved?.state.left ?? []).map((place) => place ?? 0);
  }

  save(): Saved<ArenaState> {
    const state = { used: this.#used, left: Array.from(this.#left, (place) => place ?? 0) };
    return { state, words: [this.#words.subarray(0, this.#used)] };
  }

  /** Adds the text and returns its location. */
  add({ words, end, length }: EncodedId): number {
    const place = this.#take(end - TEXT_AT + 1);
    this.#words[place] = length;
    for (let at = TEXT_AT; at < end; at++) {
      this.#words[place + at - TEXT_AT + 1] = words[at] as number;
    }
    return place;
  }

  /** Whether this text is stored at the location. */
  holds(place: number, { words, end, length }: EncodedId): boolean {
    if (this.#words[place] !== length) return false;
    for (let at = TEXT_AT; at < end; at++) {
      if (this.#words[place + at - TEXT_AT + 1] !== words[at]) return false;
    }
    return true;
  }

  text(place: number): string {
    const start = (place + 1) * WORD_BYTES;
    return bytesOf(this.#words).toString('utf8', start, start + this.#lengthAt(place));
  }

  remove(place: number): void {
    const size = 1 + wordCountOf(this.#lengthAt(place));
    this.#words[place] = this.#left[size] ?? 0;
    this.#left[size] = place;
  }

  #lengthAt(place: number): number {
    return this.#words[place] as number;
  }

  #take(size: number): number {
    const left = this.#left[size] ?? 0;
    if (left !== 0) {
      this.#left[size] = this.#words[left] as number;
      return left;
    }
    const place = this.#used;
    this.#used += size;
    if (this.#used > this.#words.length) this.#words = grown(this.#words, this.#used);
    return place;
  }
}

const wordCountOf = (length: number): number => (length + WORD_BYTES - 1) >> 2;

export const bytesOf = (words: Uint32Array): Buffer =>
  Buffer.from(words.buffer, words.byteOffset, words.byteLength);
