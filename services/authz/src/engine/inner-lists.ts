import { grown } from './growing.ts';
import type { Nodes } from './nodes.ts';
import type { Records } from './records.ts';
import {
  IN_MEMBER,
  isOfSeveral,
  numberIn,
  OUT_GRANT,
  OUT_PARENT,
  relationIn,
  UPWARD,
  withRelation,
} from './tuple-lists.ts';

/** Longer lists are not copied, because following them costs little more per tuple than the copy. */
const COPIED_MAX = 16;
/** The first word of a copy has the number of tuples of each list, and whether the node is the subject of a grant. */
const COUNT_BITS = 5;
const COUNT_MASK = 0b11111;
const HOLDS_GRANT = 1 << (3 * COUNT_BITS);
/** The count of a list that was not copied. */
export const NOT_COPIED = COUNT_MASK;

const FIRST_WORDS = 64;
/** The words that copies may use, per tuple. Small indexes may use this minimum. */
const WORDS_PER_TUPLE_MAX = 1;
const WORDS_MIN = 1_024;

/** The location of a copy that contains none of the lists. */
export const NO_COPY = 0;
const NOTHING_COPIED = HOLDS_GRANT - 1;

/**
 * Copies of the lists that upward walks follow from groups and folders. Many walks reach the same few nodes, and a copy
 * takes a fifth of the memory of a node and its records, so it stays in the processor's caches. A copy is made when a
 * walk reaches the node and dropped when one of its lists changes.
 */
export class InnerLists {
  readonly #nodes: Nodes;
  readonly #records: Records;
  /** The location of each node's copy, or {@link NO_COPY}. */
  #places = new Uint32Array(0);
  #words = Uint32Array.of(NOTHING_COPIED);
  #used = 1;

  constructor(nodes: Nodes, records: Records) {
    this.#nodes = nodes;
    this.#records = records;
  }

  /** The location of the node's copy, valid until the next call. */
  of(node: number): number {
    const place = node < this.#places.length ? (this.#places[node] as number) : NO_COPY;
    return place === NO_COPY ? this.#copy(node) : place;
  }

  holdsGrant(place: number): boolean {
    return ((this.#words[place] as number) & HOLDS_GRANT) !== 0;
  }

  /** The number of tuples in the list, or {@link NOT_COPIED}. */
  count(place: number, list: number): number {
    return ((this.#words[place] as number) >>> (list * COUNT_BITS)) & COUNT_MASK;
  }

  /** The position of the list's first tuple. */
  start(place: number, list: number): number {
    let at = place + 1;
    for (let before = 0; before < list; before++) {
      const count = this.count(place, before);
      if (count !== NOT_COPIED) at += count;
    }
    return at;
  }

  /** The node at the other end of a tuple. */
  endAt(at: number): number {
    return numberIn(this.#words[at] as number);
  }

  relationAt(at: number): number {
    return relationIn(this.#words[at] as number);
  }

  /** Call it when a tuple was added to the node's list, or removed from it. */
  changed(node: number, list: number): void {
    if (list !== OUT_PARENT && list !== IN_MEMBER && node < this.#places.length)
      this.#places[node] = NO_COPY;
  }

  #copy(node: number): number {
    const place = this.#take(1 + UPWARD.length * COPIED_MAX);
    let counts = this.#nodes.head(node, OUT_GRANT) === 0 ? 0 : HOLDS_GRANT;
    this.#used = place + 1;
    // The lists are stored in this order.
    for (const [at, list] of UPWARD.entries())
      counts |= this.#copyList(node, list) << (at * COUNT_BITS);
    this.#words[place] = counts;
    if (node >= this.#places.length) this.#places = grown(this.#places, this.#nodes.size);
    this.#places[node] = place;
    return place;
  }

  /** Appends a copy of the list and returns the number of tuples. */
  #copyList(node: number, list: number): number {
    const head = this.#nodes.head(node, list);
    if (head === 0) return 0;
    const start = this.#used;
    if (!isOfSeveral(head)) {
      this.#words[start] = head;
      this.#used++;
      return 1;
    }
    const records = this.#records;
    const newest = numberIn(head);
    let record = newest;
    for (let count = 1; count <= COPIED_MAX; count++) {
      record = records.nextOf(record, list);
      const relation = records.relationNumber(record);
      this.#words[start + count - 1] = withRelation(records.otherEndOf(record, list), relation);
      if (record !== newest) continue;
      this.#used += count;
      return count;
    }
    return NOT_COPIED;
  }

  /** If the copies would use too much memory, all are dropped, including the space of copies dropped earlier. */
  #take(size: number): number {
    const max = Math.max(WORDS_MIN, this.#records.count * WORDS_PER_TUPLE_MAX);
    if (this.#used + size > max) {
      this.#places.fill(0);
      this.#used = 1;
    }
    if (this.#used + size > this.#words.length) {
      this.#words = grown(this.#words, Math.max(this.#used + size, FIRST_WORDS));
    }
    return this.#used;
  }
}
