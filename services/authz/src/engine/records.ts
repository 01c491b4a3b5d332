import { grown } from './growing.ts';
import type { Saved } from './id-arena.ts';
import { isOut, numberIn, relationIn, withRelation } from './tuple-lists.ts';

/**
 * The words of a record. Together they fill half a cache line, because a walk that follows a list needs both ends and
 * the next record at once.
 */
const SUBJECT = 0;
/** The relation is in the lowest bits. */
const OBJECT = 1;
/** The neighbours in the subject's list and in the object's list. */
export const NEXT_OUT = 2;
export const PREVIOUS_OUT = 3;
export const NEXT_IN = 4;
export const PREVIOUS_IN = 5;
/** The next record of the same bucket. In a free record, the next free one. */
const NEXT_IN_BUCKET = 6;
const SEQUENCE = 7;
const WORDS = 8;

const FIRST_SIZE = 32;

export type RecordsState = {
  readonly last: number;
  readonly firstFree: number;
  readonly count: number;
  readonly lastSequence: number;
};

/**
 * Tuples as numbers from 1, each with both ends, its relation, its age and its position in two lists. They are found by
 * their pair of nodes in a hash table with a chain per bucket.
 */
export class Records {
  #words: Uint32Array;
  #buckets: Uint32Array;
  readonly #seed: number;
  #last: number;
  #firstFree: number;
  #count: number;
  #lastSequence: number;

  constructor(seed: number, saved?: Saved<RecordsState>) {
    this.#seed = seed;
    this.#words = saved?.words[0] ?? new Uint32Array(FIRST_SIZE * WORDS);
    this.#buckets = saved?.words[1] ?? new Uint32Array(FIRST_SIZE);
    this.#last = saved?.state.last ?? 0;
    this.#firstFree = saved?.state.firstFree ?? 0;
    this.#count = saved?.state.count ?? 0;
    this.#lastSequence = saved?.state.lastSequence ?? 0;
  }

  save(): Saved<RecordsState> {
    return {
      state: {
        last: this.#last,
        firstFree: this.#firstFree,
        count: this.#count,
        lastSequence: this.#lastSequence,
      },
      words: [this.#words.subarray(0, (this.#last + 1) * WORDS), this.#buckets],
    };
  }

  get count(): number {
    return this.#count;
  }

  /** The highest number that was ever in use. */
  get last(): number {
    return this.#last;
  }

  /** The age of the youngest record. */
  get lastSequence(): number {
    return this.#lastSequence;
  }

  /** Returns 0 if the record is free. */
  subjectOf(record: number): number {
    return this.#words[record * WORDS + SUBJECT] as number;
  }

  objectOf(record: number): number {
    return numberIn(this.#words[record * WORDS + OBJECT] as number);
  }

  relationNumber(record: number): number {
    return relationIn(this.#words[record * WORDS + OBJECT] as number);
  }

  /** The age, which is comparable across lists. Record numbers are not, because they are reused. */
  sequenceOf(record: number): number {
    return this.#words[record * WORDS + SEQUENCE] as number;
  }

  nextOut(record: number): number {
    return this.#words[record * WORDS + NEXT_OUT] as number;
  }

  nextIn(record: number): number {
    return this.#words[record * WORDS + NEXT_IN] as number;
  }

  /** The next record of a list. After the newest one comes the oldest. */
  nextOf(record: number, list: number): number {
    return isOut(list) ? this.nextOut(record) : this.nextIn(record);
  }

  /** The other end of the tuple, seen from the node that owns the list. */
  otherEndOf(record: number, list: number): number {
    return isOut(list) ? this.objectOf(record) : this.subjectOf(record);
  }

  get(record: number, word: number): number {
    return this.#words[record * WORDS + word] as number;
  }

  set(record: number, word: number, value: number): void {
    this.#words[record * WORDS + word] = value;
  }

  /** The first record of a pair; 0 if it has none. */
  firstOfPair(subject: number, object: number): number {
    const bucket = this.#hashOf(subject, object) & (this.#buckets.length - 1);
    return this.#ofPair(this.#buckets[bucket] as number, subject, object);
  }

  /** The next record of the same pair; 0 after the last. */
  nextOfPair(record: number): number {
    const next = this.#words[record * WORDS + NEXT_IN_BUCKET] as number;
    return this.#ofPair(next, this.subjectOf(record), this.objectOf(record));
  }

  add(subject: number, object: number, relation: number): number {
    const record = this.#free();
    const at = record * WORDS;
    this.#words[at + SUBJECT] = subject;
    this.#words[at + OBJECT] = withRelation(object, relation);
    this.#words[at + SEQUENCE] = ++this.#lastSequence;
    this.#count++;
    if (this.#count > this.#buckets.length) this.#growBuckets();
    else this.#chain(record);
    return record;
  }

  remove(record: number): void {
    const at = record * WORDS;
    const bucket =
      this.#hashOf(this.subjectOf(record), this.objectOf(record)) & (this.#buckets.length - 1);
    const next = this.#words[at + NEXT_IN_BUCKET] as number;
    let before = this.#buckets[bucket] as number;
    if (before === record) this.#buckets[bucket] = next;
    else {
      while (this.get(before, NEXT_IN_BUCKET) !== record) before = this.get(before, NEXT_IN_BUCKET);
      this.set(before, NEXT_IN_BUCKET, next);
    }
    this.#words[at + SUBJECT] = 0;
    this.#words[at + NEXT_IN_BUCKET] = this.#firstFree;
    this.#firstFree = record;
    this.#count--;
  }

  #ofPair(from: number, subject: number, object: number): number {
    let record = from;
    while (record !== 0) {
      const at = record * WORDS;
      const isSame = this.#words[at + SUBJECT] === subject;
      if (isSame && numberIn(this.#words[at + OBJECT] as number) === object) return record;
      record = this.#words[at + NEXT_IN_BUCKET] as number;
    }
    return 0;
  }

  /** The hash is seeded, because tenants choose their pairs. */
  #hashOf(subject: number, object: number): number {
    let hash = Math.imul(subject ^ this.#seed, 0x9e3779b1);
    hash = Math.imul((hash ^ (hash >>> 15)) + object, 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    return hash ^ (hash >>> 16);
  }

  #free(): number {
    const free = this.#firstFree;
    if (free !== 0) {
      this.#firstFree = this.get(free, NEXT_IN_BUCKET);
      return free;
    }
    const record = ++this.#last;
    const length = (record + 1) * WORDS;
    if (length > this.#words.length) this.#words = grown(this.#words, length);
    return record;
  }

  #chain(record: number): void {
    const hash = this.#hashOf(this.subjectOf(record), this.objectOf(record));
    const bucket = hash & (this.#buckets.length - 1);
    this.set(record, NEXT_IN_BUCKET, this.#buckets[bucket] as number);
    this.#buckets[bucket] = record;
  }

  #growBuckets(): void {
    this.#buckets = new Uint32Array(this.#buckets.length * 2);
    for (let record = 1; record <= this.#last; record++) {
      if (this.subjectOf(record) !== 0) this.#chain(record);
    }
  }
}
