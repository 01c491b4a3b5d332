import { grown } from './growing.ts';
import { bytesOf, type EncodedId, IdArena, type Saved, TEXT_AT, WORD_BYTES } from './id-arena.ts';
import { LISTS } from './tuple-lists.ts';

/**
 * The words of a node: the heads of its lists, its type with its id's length, and the id. A UUID fills them exactly.
 * Together they have the size of a cache line.
 */
const ID_WORDS = 9;
const WORDS = LISTS + 1 + ID_WORDS;
/**
 * Words before the first node. V8 gets large arrays from the C library, and glibc's begin 16 bytes after the start of a
 * cache line. With this offset each node is within one cache line, which makes a check 8 % faster.
 */
const BEFORE = 12;
const HEADS_AT = BEFORE;
const KIND = HEADS_AT + LISTS;
const TEXT = KIND + 1;

/**
 * The longest id in bytes that is stored in its node. A longer one is stored in the arena, and the node has its
 * location.
 */
const OWN_BYTES_MAX = ID_WORDS * WORD_BYTES;
const LENGTH_MASK = 0b111111;
/** A flag in a node's kind: reasons show the id unquoted and in full. */
const PLAIN = 0b1000000;
const TYPE_AT = 7;
/** The length that is stored for a longer id. */
const LONGER = LENGTH_MASK;
/** The kind of a free node. Types are numbered from 1. */
const FREE = 0;

const FIRST_SIZE = 16;

export type NodeTableState = { readonly ids: ReturnType<IdArena['save']>['state'] };

/** The properties of each node, by its number. */
export class NodeTable {
  #words: Uint32Array;
  #bytes: Buffer;
  /** Texts of long ids. */
  readonly #ids: IdArena;

  constructor(saved?: Saved<NodeTableState>) {
    const ids = saved?.words[1];
    this.#words = saved?.words[0] ?? new Uint32Array(BEFORE + FIRST_SIZE * WORDS);
    this.#bytes = bytesOf(this.#words);
    this.#ids = new IdArena(saved && ids && { state: saved.state.ids, words: [ids] });
  }

  /** Saves the table up to the node with the highest number. */
  save(last: number): Saved<NodeTableState> {
    const ids = this.#ids.save();
    const end = BEFORE + (last + 1) * WORDS;
    return { state: { ids: ids.state }, words: [this.#words.subarray(0, end), ...ids.words] };
  }

  head(node: number, list: number): number {
    return this.#words[node * WORDS + HEADS_AT + list] as number;
  }

  setHead(node: number, list: number, head: number): void {
    this.#words[node * WORDS + HEADS_AT + list] = head;
  }

  isFree(node: number): boolean {
    return this.#kind(node) === FREE;
  }

  typeOf(node: number): number {
    return this.#kind(node) >>> TYPE_AT;
  }

  /** Whether reasons show the node's id unquoted. */
  isPlain(node: number): boolean {
    return (this.#kind(node) & PLAIN) !== 0;
  }

  isNamed(node: number, id: EncodedId): boolean {
    if ((this.#kind(node) & ~PLAIN) >>> 0 !== kindOf(id)) return false;
    const at = node * WORDS + TEXT;
    const words = this.#words;
    if (id.length > OWN_BYTES_MAX) return this.#ids.holds(words[at] as number, id);
    for (let word = TEXT_AT; word < id.end; word++) {
      if (words[at + word - TEXT_AT] !== id.words[word]) return false;
    }
    return true;
  }

  /** Names a new node, whose lists are empty. */
  name(node: number, id: EncodedId, isPlain: boolean): void {
    const start = node * WORDS;
    const end = start + BEFORE + WORDS;
    if (end > this.#words.length) {
      this.#words = grown(this.#words, end);
      this.#bytes = bytesOf(this.#words);
    }
    this.#words[start + KIND] = isPlain ? kindOf(id) | PLAIN : kindOf(id);
    if (id.length > OWN_BYTES_MAX) {
      this.#words[start + TEXT] = this.#ids.add(id);
      return;
    }
    for (let word = TEXT_AT; word < id.end; word++) {
      this.#words[start + TEXT + word - TEXT_AT] = id.words[word] as number;
    }
  }

  idOf(node: number): string {
    const length = this.#kind(node) & LENGTH_MASK;
    const at = node * WORDS + TEXT;
    if (length === LONGER) return this.#ids.text(this.#words[at] as number);
    const start = at * WORD_BYTES;
    return this.#bytes.toString('utf8', start, start + length);
  }

  /** The number that is stored in a free node. */
  nextFree(node: number): number {
    return this.#words[node * WORDS + TEXT] as number;
  }

  free(node: number, next: number): void {
    const start = node * WORDS;
    if ((this.#kind(node) & LENGTH_MASK) === LONGER)
      this.#ids.remove(this.#words[start + TEXT] as number);
    this.#words[start + KIND] = FREE;
    this.#words[start + TEXT] = next;
  }

  #kind(node: number): number {
    return this.#words[node * WORDS + KIND] as number;
  }
}

const kindOf = ({ type, length }: EncodedId): number =>
  ((type << TYPE_AT) | Math.min(length, LONGER)) >>> 0;
